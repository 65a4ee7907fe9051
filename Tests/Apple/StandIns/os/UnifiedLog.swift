internal import Synchronization

/// The log's entries for tests, which Apple's module does not provide.
public enum UnifiedLog: Sendable {
    /// An entry, as in `log stream`.
    public struct Entry: Equatable, Sendable {
        public let subsystem: String
        public let category: String
        public let type: OSLogType
        public let text: String
    }

    private static let entries = Mutex<[Entry]>([])

    /// Returns the entries of a subsystem.
    public static func entries(of subsystem: String) -> [Entry] {
        entries.withLock { $0.filter { $0.subsystem == subsystem } }
    }

    static func append(_ entry: Entry) { entries.withLock { $0.append(entry) } }
}
