package struct DoctorFinding: Sendable, Hashable, Encodable {
    package enum State: String, Sendable, Hashable, Encodable, CaseIterable {
        /// As expected.
        case good
        /// Working, but at risk.
        case warning
        /// Not working.
        case problem
    }

    /// The subject of the check, such as `clock` or `store notes.sqlite`.
    package let subject: String
    package let state: State
    package let detail: String
    /// The remedy; nil if none is needed.
    package let advice: String?

    package static func good(_ subject: String, _ detail: String) -> Self {
        Self(subject: subject, state: .good, detail: detail, advice: nil)
    }

    package static func warning(_ subject: String, _ detail: String, advice: String) -> Self {
        Self(subject: subject, state: .warning, detail: detail, advice: advice)
    }

    package static func problem(_ subject: String, _ detail: String, advice: String) -> Self {
        Self(subject: subject, state: .problem, detail: detail, advice: advice)
    }
}

/// A check of something that an app on Keel depends on.
package protocol DoctorCheck: Sendable {
    /// Runs the check; a check that cannot run is a finding. What is checked does not change.
    func findings() async -> [DoctorFinding]
}
