internal import Synchronization

/// What the tests read of the log; Apple's module has nothing of the kind.
public enum UnifiedLog: Sendable {
    /// One entry, as `log stream` shows it.
    public struct Entry: Equatable, Sendable {
        public let subsystem: String
        public let category: String
        public let type: OSLogType
        public let text: String
    }

    private static let entries = Mutex<[Entry]>([])

    /// The entries of a subsystem.
    public static func entries(of subsystem: String) -> [Entry] {
        entries.withLock { $0.filter { $0.subsystem == subsystem } }
    }

    static func append(_ entry: Entry) { entries.withLock { $0.append(entry) } }
}
