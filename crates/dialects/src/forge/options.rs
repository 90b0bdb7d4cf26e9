//! What the configuration says of the dialect.

use core::time::Duration;

use insight::past::Prices;

/// What the tools of the dialect are told.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The folder of the specs: absolute, or seen from the project's root.
    pub specs: String,
    /// The folder of the agents' files. `None`: those that come with the program.
    pub agents: Option<String>,
    /// What an agent's model is called that nobody named.
    pub default_model: String,
    /// For how long a call at a checkpoint waits for the person.
    pub poll: Duration,
    /// Where the dashboard listens; 0 where there is none.
    pub events_port: u16,
    /// The file that others are told in what happens; absolute. `None`: nobody is told.
    pub events_log: Option<String>,
    /// What tokens cost.
    pub prices: Prices,
    /// How many tokens of a prompt may tell what made work hard in past pipelines.
    pub friction_tokens: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            specs: ".specs".to_owned(),
            agents: None,
            default_model: "sonnet".to_owned(),
            poll: Duration::from_secs(50),
            events_port: 0,
            events_log: None,
            prices: Prices::default(),
            friction_tokens: 400,
        }
    }
}
