//! The numbered form of a document: seven keys in `steps`, numbers wherever a step is meant.

use super::Document;
use crate::{
    generation::words::{STEPS, Step, StepStatus},
    kit::json::{Json, Object},
};

impl Document {
    /// Brings a document whose steps go by their names into the numbered form. Everything else
    /// stays as it is and where it is.
    pub(crate) fn canonicalise(&mut self) {
        for key in ["current_step", "failed_at_step"] {
            if let Some(step) = self.object.get_mut(key) {
                number(step);
            }
        }
        if let Some(Json::Object(steps)) = self.object.get_mut("steps") {
            rename_steps(steps);
        }
        if let Some(Json::List(errors)) = self.object.get_mut("errors") {
            errors.iter_mut().for_each(number_error);
        }
    }
}

/// Turns the name of a step into its number.
fn number(value: &mut Json) {
    if let Some(step) = value.as_text().and_then(Step::find_named) {
        *value = step.number.into();
    }
}

fn number_error(error: &mut Json) {
    let Json::Object(error) = error else { return };
    let Some(step) = error.get("step").and_then(Json::as_text).and_then(Step::find_named) else {
        return;
    };
    error.set("step", step.number);
    if error.get("step_name").is_none() {
        error.set_after("step", "step_name", step.key);
    }
}

fn rename_steps(steps: &mut Object) {
    for step in &STEPS {
        let Some(name) = step.name else { continue };
        let Some(named) = steps.get(name).cloned() else { continue };
        match steps.get_mut(step.key) {
            Some(numbered) => {
                complete(numbered, &named);
                steps.remove(name);
            }
            None => steps.rename(name, step.key),
        }
        if step.number == 4 {
            fold_fast_check(steps, step);
        }
    }
}

/// Adds to the numbered record what only the named one says.
fn complete(numbered: &mut Json, named: &Json) {
    let Some(named) = named.as_object() else { return };
    let numbered = numbered.make_object();
    for (key, value) in named.iter() {
        if numbered.get(key).is_none() {
            numbered.set(key, value.clone());
        }
    }
}

/// Anyone who names the steps has the fast check done with the draft.
fn fold_fast_check(steps: &mut Object, draft: &Step) {
    let Some(check) = draft.next().filter(|it| steps.get(it.key).is_none()) else { return };
    let status = steps.get(draft.key).and_then(Json::as_object).and_then(|it| it.get("status"));
    if status.and_then(Json::as_text) != Some(StepStatus::Completed.word()) {
        return;
    }
    let skipped: Object =
        [("status", StepStatus::Skipped.word()), ("skipped_reason", "folded into step 4")]
            .into_iter()
            .collect();
    steps.set_after(draft.key, check.key, skipped);
}

#[cfg(test)]
mod tests {
    use super::Document;

    #[test]
    fn names_of_steps_become_numbers_and_the_rest_stays() {
        let text = r#"{"x": 1, "current_step": "scene:gen:review:validation", "steps": {
            "scene:gen:setup:files": {"status": "COMPLETED", "mine": true},
            "step_2_blueprint_validation": {"status": "COMPLETED"},
            "scene:gen:setup:blueprint": {"status": "PENDING", "mine": 2},
            "scene:gen:draft:prose": {"status": "COMPLETED"},
            "scene:gen:review:validation": {"status": "IN_PROGRESS"}},
            "errors": [{"step": "scene:gen:draft:prose", "message": "m"}], "y": null}"#;
        let wanted = r#"{"x": 1, "current_step": 6, "steps": {
            "step_1_file_check": {"status": "COMPLETED", "mine": true},
            "step_2_blueprint_validation": {"status": "COMPLETED", "mine": 2},
            "step_4_generation": {"status": "COMPLETED"},
            "step_5_fast_compliance": {"status": "SKIPPED", "skipped_reason": "folded into step 4"},
            "step_6_full_validation": {"status": "IN_PROGRESS"}},
            "errors": [{"step": 4, "step_name": "step_4_generation", "message": "m"}], "y": null}"#;
        let document = Document::parse(text).unwrap();
        assert_eq!(document.render(), Document::parse(wanted).unwrap().render());
    }
}
