//! Numbers that a caller sets.

/// A number that was refused.
#[derive(Clone, PartialEq, thiserror::Error)]
#[error("{setting} is {given}; it must be a finite number of 0 or more")]
pub struct SettingError {
    setting: String,
    given: f64,
}

/// As it is read, also where `main` or `unwrap` prints it.
impl std::fmt::Debug for SettingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl SettingError {
    /// Which was refused: `k`, `threshold`, or `weights.` with a provider's name.
    pub fn setting(&self) -> &str {
        &self.setting
    }

    /// What was given.
    pub fn given(&self) -> f64 {
        self.given
    }
}

/// The number itself, if it is finite and 0 or more.
pub(crate) fn checked(setting: &str, given: f64) -> Result<f64, SettingError> {
    if given.is_finite() && given >= 0.0 {
        return Ok(given);
    }
    Err(SettingError {
        setting: setting.to_owned(),
        given,
    })
}
