#if PostgreSQL
internal import KeelStorageAdapting

extension PostgreSQLStorageAdapter {
    /// One result of an examination of a database.
    public struct Finding: Sendable, Hashable {
        /// The state of a subject.
        public enum State: String, Sendable, Hashable, CaseIterable {
            /// As expected.
            case good
            /// Working, but at risk.
            case warning
            /// Not working, or to be remedied at once.
            case problem
        }

        /// The subject, such as `host db1.example.com:5432` or `transactions`.
        public var subject: String
        /// The state of the subject.
        public var state: State
        /// The finding, in a sentence or a phrase.
        public var detail: String
        /// The remedy; nil if none is needed.
        public var advice: String?

        static func good(_ subject: String, _ detail: String) -> Self {
            Self(subject: subject, state: .good, detail: detail)
        }

        static func warning(_ subject: String, _ detail: String, advice: String) -> Self {
            Self(subject: subject, state: .warning, detail: detail, advice: advice)
        }

        static func problem(_ subject: String, _ detail: String, advice: String) -> Self {
            Self(subject: subject, state: .problem, detail: detail, advice: advice)
        }
    }
}

enum Shown {
    /// Returns a size such as `1.2 GiB`.
    static func bytes(_ count: Int64) -> String {
        let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
        var (value, unit) = (Double(count), 0)
        while value >= 1024, unit < units.count - 1 { (value, unit) = (value / 1024, unit + 1) }
        return unit == 0 ? "\(count) bytes" : "\(rounded(value)) \(units[unit])"
    }

    /// Returns a time such as `1.5 s` or `3.2 days`.
    static func duration(_ microseconds: Int64) -> String {
        let seconds = Double(max(0, microseconds)) / 1_000_000
        return switch seconds {
        case ..<120: "\(rounded(seconds)) s"
        case ..<7_200: "\(rounded(seconds / 60)) minutes"
        case ..<172_800: "\(rounded(seconds / 3_600)) hours"
        default: "\(rounded(seconds / 86_400)) days"
        }
    }

    private static func rounded(_ value: Double) -> String {
        let tenths = Int64((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
#endif
