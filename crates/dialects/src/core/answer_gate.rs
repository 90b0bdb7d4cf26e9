//! `answer_gate`: what a person said at a gate, passed on by the agent.

use engine::{Action, Answer as GateAnswer, Command, How, Refusal, RunId, next};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    answer, run,
    words::{self, Failure, Tried},
};
use crate::kit::{
    Ask, Caller, Deed, Done, Effect, Hints, Look, Person, Snapshot, Stopped, Then, Tool,
};

/// The parameters.
#[derive(Deserialize, JsonSchema)]
pub(super) struct AnswerGate {
    /// Run id or key
    #[schemars(extend("x-names" = ["run"]))]
    instance_id: String,
    /// An option, or approve, reject. Without it your client asks the person
    answer: Option<String>,
    /// What the person wants changed
    feedback: Option<String>,
    /// Who said so
    person: Option<String>,
    /// For safe retries
    #[expect(dead_code, reason = "the server reads it before the call")]
    request_id: Option<String>,
}

impl Tool for AnswerGate {
    type Answer = answer::Answer;
    type Failure = Failure;
    const NAME: &'static str = "answer_gate";
    const TITLE: &'static str = "Pass a person's answer on";
    const DESCRIPTION: &'static str = "Have the person answer while the run is SUSPENDED, \
        or pass on what they said. Never answer yourself.";
    const HINTS: Hints = Hints { effect: Effect::Ends, ..Hints::DECIDES };

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let person = caller.person;
        let tried = Tried::new(
            person,
            format!("Failed to answer the gate of instance '{}'", self.instance_id),
        );
        Ok(run::find::<Self>(self.instance_id, tried.clone(), move |run| {
            let say = move |outcome| Self::say(answer::of_outcome(&outcome, person));
            let come = tried.clone().or_fail::<Self, _, _>(say);
            let Some(answer) = self.answer else {
                if person == Person::Answered(()) {
                    return Ask::Do(Deed::TakeReply(run), come);
                }
                let look = move |seen: Result<Snapshot, Stopped>| {
                    let put = seen.and_then(|now| put(&now, run, person));
                    Self::tell(put.map_err(|it| tried.failure(&it))).into()
                };
                return Ask::Look(Look::View(run, None, Box::new(look)));
            };
            let given = engine::AnswerGate {
                answer: GateAnswer::Named(answer),
                feedback: self.feedback.unwrap_or_default(),
                by: self.person.unwrap_or_else(|| "a person".to_owned()),
                how: How::Relayed,
                digest: None,
            };
            run::change(run, Command::AnswerGate(Box::new(given)), None, come)
        }))
    }
}

/// Has the question put to the person, or tells why it was not answered.
fn put(now: &Snapshot, run: RunId, person: Person) -> Result<Done<answer::Answer>, Stopped> {
    let Action::Wait { gate } = next(&now.view.workflow, &now.view.state) else {
        return Err(Refusal::GateNotOpen.into());
    };
    if gate.is_personal() && matches!(person, Person::Unproven | Person::OutOfReach) {
        // The person would be asked for an answer that does not count, or cannot be asked here.
        let step = gate.step.clone();
        return Err(Refusal::GateNeedsPerson { step, is_asked: true, is_begun: true }.into());
    }
    let mut done = answer::of_view(now, &[], person);
    match person {
        Person::OutOfReach | Person::Answered(()) => {
            let problem = "is missing, and your client shows no forms: ask the person, then pass \
                           their answer on";
            return Err(words::invalid("answer", problem));
        }
        Person::Reachable | Person::Unproven => done.then = Some(Then::Ask(run)),
        Person::Silent(why) => done.warnings.push(format!("{why}; the gate stays open")),
    }
    Ok(done)
}
