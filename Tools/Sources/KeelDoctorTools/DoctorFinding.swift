/// One thing that was looked at, and how it is.
package struct DoctorFinding: Sendable, Hashable, Encodable {
    /// How something is.
    package enum State: String, Sendable, Hashable, Encodable, CaseIterable {
        /// As it should be.
        case good
        /// It works, and something may go wrong later.
        case warning
        /// It does not work.
        case problem
    }

    /// What was looked at, such as `clock` or `store notes.sqlite`.
    package let subject: String
    package let state: State
    /// What was found, in one sentence.
    package let detail: String
    /// What to do; nil where there is nothing to do.
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

/// Looks at one part of what an app on Keel stands on.
package protocol DoctorExamination: Sendable {
    /// Looks, changes nothing, and never fails: what cannot be looked at is a finding.
    func findings() async -> [DoctorFinding]
}
