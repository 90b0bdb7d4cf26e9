//! `answer_gate`: what a person said at a gate, passed on by the agent.

use engine::{Action, Answer as GateAnswer, Command, How, Refusal, RunId, next};
use runtime::{ExecuteError, Outcome};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    answer, run,
    words::{self, Failure},
};
use crate::{
    server::PersonsDoor,
    tool::{Call, Done, Effect, GateReply, Hints, Person, Then, Tool},
};

pub(super) struct AnswerGate;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// Run id or key
    instance_id: String,
    /// Name of an option, or approve, reject. Without it your client asks the person itself
    answer: Option<String>,
    /// What the person wants changed
    feedback: Option<String>,
    /// Who said so
    person: Option<String>,
    /// Makes a retry safe
    request_id: Option<String>,
}

impl Tool for AnswerGate {
    type Parameters = Parameters;
    type Answer = answer::Answer;
    type Failure = Failure;
    const NAME: &'static str = "answer_gate";
    const TITLE: &'static str = "Pass a person's answer on";
    const DESCRIPTION: &'static str = "Have the person answer while the run is SUSPENDED, \
        or pass on what they said. Never answer yourself.";
    const HINTS: Hints = Hints { effect: Effect::Ends, ..Hints::DECIDES };

    async fn call(
        call: &Call<'_>,
        parameters: Parameters,
    ) -> Result<Done<answer::Answer>, Failure> {
        let instance = parameters.instance_id.clone();
        pass_on(call, parameters).await.map_err(|error| {
            Failure::new(&format!("Failed to answer the gate of instance '{instance}'"), &error)
        })
    }
}

async fn pass_on(
    call: &Call<'_>,
    parameters: Parameters,
) -> Result<Done<answer::Answer>, ExecuteError> {
    let run = call.runtime.find_run(&parameters.instance_id).await?;
    let outcome = match (parameters.answer, &call.person) {
        (Some(answer), _) => {
            let given = engine::AnswerGate {
                answer: GateAnswer::Named(answer),
                feedback: parameters.feedback.unwrap_or_default(),
                by: parameters.person.unwrap_or_else(|| "a person".to_owned()),
                how: How::Relayed,
                digest: None,
            };
            let command = Command::AnswerGate(Box::new(given));
            run::execute(call, run, command, parameters.request_id).await?
        }
        (None, Person::Answered(reply)) => take(call, run, reply).await?,
        (None, reach) => return ask(call, run, reach).await,
    };
    Ok(answer::of_outcome(call.runtime, &outcome))
}

/// Takes what a person answered when the client asked.
pub(super) async fn take(
    call: &Call<'_>,
    run: RunId,
    reply: &GateReply,
) -> Result<Outcome, ExecuteError> {
    let client = call.actor.client.as_deref().unwrap_or("the client");
    let given = engine::AnswerGate {
        answer: GateAnswer::Named(reply.answer.clone()),
        feedback: reply.feedback.clone(),
        by: PersonsDoor::who(reply.door.as_ref(), client),
        how: PersonsDoor::how(reply.door.as_ref()),
        digest: Some(reply.digest.clone()),
    };
    let command = Command::AnswerGate(Box::new(given));
    run::execute(call, run, command, reply.request_id.clone()).await
}

/// Has the question put to the person, or tells why it was not answered.
async fn ask(
    call: &Call<'_>,
    run: RunId,
    reach: &Person,
) -> Result<Done<answer::Answer>, ExecuteError> {
    let view = call.runtime.view(run, None).await?;
    let Action::Wait { gate } = next(&view.workflow, &view.state) else {
        return Err(Refusal::GateNotOpen.into());
    };
    if *reach == Person::Unproven && gate.is_personal() {
        // The person would be asked for an answer that does not count.
        let step = gate.step.clone();
        return Err(Refusal::GateNeedsPerson { step, is_asked: true, is_begun: true }.into());
    }
    let mut done = answer::of_view(call.runtime, &view, &[]);
    match reach {
        Person::OutOfReach | Person::Answered(_) => {
            let problem = match gate.is_personal() {
                true => {
                    "is missing, your client shows no forms, and only the person's own answer \
                     counts: tell them to answer with `milepost gate`, and wait with \
                     `get_workflow_status` and `wait_seconds`"
                }
                false => {
                    "is missing, and your client shows no forms: ask the person, then pass their \
                     answer on"
                }
            };
            return Err(words::invalid("answer", problem));
        }
        Person::Reachable | Person::Unproven => done.then = Some(Then::Ask(run)),
        Person::Silent(why) => done.warnings.push(format!("{why}; the gate stays open")),
    }
    Ok(done)
}
