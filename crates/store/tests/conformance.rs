//! What every store must do. Each law runs once for each backend.
//!
//! The laws are in `conformance/`, by what they are about. `random.rs` there has no laws of its
//! own: it writes at random, and compares the store with a plain model of it.

#[path = "conformance/deletion.rs"]
mod deletion;
#[path = "conformance/files.rs"]
mod files;
#[path = "conformance/leases.rs"]
mod leases;
#[path = "conformance/lists.rs"]
mod lists;
#[path = "conformance/log.rs"]
mod log;
#[path = "support/memory.rs"]
mod memory;
#[path = "conformance/random.rs"]
mod random;
#[path = "conformance/search.rs"]
mod search;
#[path = "conformance/support.rs"]
mod support;
#[path = "conformance/watch.rs"]
mod watch;

macro_rules! laws {
    ($($about:ident: $($law:ident),* $(,)?;)*) => {
        mod sqlite_file {
            $(mod $about { $(
                #[tokio::test]
                async fn $law() {
                    let folder = tempfile::tempdir().unwrap();
                    crate::$about::$law(&crate::support::open(folder.path())).await;
                }
            )* })*
        }
        mod sqlite_memory {
            $(mod $about { $(
                #[tokio::test]
                async fn $law() {
                    crate::$about::$law(&store::SqliteStore::in_memory().unwrap()).await;
                }
            )* })*
        }
    };
}

laws! {
    log:
        gives_back_what_was_appended_in_order,
        loads_only_what_comes_after,
        a_log_has_a_checksum_of_all_its_events,
        the_same_events_have_the_same_checksum,
        knows_nothing_of_other_runs,
        refuses_an_append_at_a_stale_length,
        refuses_to_begin_a_run_twice,
        refuses_events_that_are_not_numbered_on,
        lets_one_of_many_callers_win,
        a_key_names_the_one_run_that_holds_it,
        a_key_is_taken_only_within_its_project_workflow_and_root,
        a_key_cannot_be_taken_back_while_another_has_it,
        a_request_is_seen_once,
        an_answer_is_kept_once,
        a_request_is_looked_for_first,
        a_refused_append_leaves_nothing,
        a_definition_is_stored_once,
        keeps_any_text,
        keeps_large_events,
        keeps_actors_and_times,
        keeps_the_newest_summary;
    lists:
        the_most_recently_changed_comes_first,
        every_filter_is_obeyed,
        filters_are_obeyed_together,
        pages_follow_each_other_without_gaps,
        a_page_has_no_more_than_its_limit,
        a_list_is_sorted_as_it_is_asked,
        a_later_run_shadows_those_with_its_key,
        a_refused_beginning_shadows_nothing,
        a_scope_is_the_end_of_a_key,
        all_that_fit_are_counted;
    files:
        a_file_is_owed_with_the_append,
        a_refused_append_owes_nothing,
        a_mark_says_what_was_written,
        a_file_that_was_not_owed_may_be_marked,
        a_late_mark_changes_nothing,
        a_mark_of_no_run_is_refused,
        files_are_picked_by_run_project_and_workflow,
        files_may_have_any_path;
    leases:
        a_lease_is_there_until_it_is_dropped,
        a_step_is_held_once,
        an_ended_lease_is_taken_over_as_it_was_seen,
        a_heartbeat_moves_the_end_and_spoils_a_takeover,
        a_heartbeat_of_one_who_holds_nothing_is_refused,
        a_heartbeat_never_shortens,
        leases_change_in_the_order_given,
        two_never_hold_one_step;
    search:
        an_answered_append_is_found,
        all_words_are_looked_for_and_then_any,
        words_are_the_same_in_every_form,
        beginnings_and_phrases_are_found,
        better_is_first,
        no_text_can_break_a_search,
        a_search_stays_within_its_run_and_project,
        pages_of_hits_follow_each_other,
        what_was_found_is_shown,
        any_script_is_found;
    deletion:
        a_deleted_run_is_nowhere,
        a_deletion_at_a_stale_length_changes_nothing,
        the_id_of_a_deleted_run_is_never_given_again,
        who_follows_all_runs_hears_of_a_deletion,
        the_run_before_has_the_key_again;
    watch:
        events_of_all_runs_come_in_the_order_of_their_appends,
        whoever_watches_is_woken,
        nothing_wakes_but_an_append;
}
