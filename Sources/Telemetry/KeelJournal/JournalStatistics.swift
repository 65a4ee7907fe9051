/// Counts of a journal since it was opened.
public struct JournalStatistics: Hashable, Sendable {
    /// The number of records appended.
    public var appended = 0
    /// The number of failed appends, without records that were too large and failed synchronizations.
    public var refused = 0
    /// The number of torn or corrupt records and segment ends that consumers skipped, and of records whose key was
    /// destroyed.
    public var corrupt = 0
    /// The number of segments removed to stay within the bounds.
    public var removedSegments = 0

    /// Creates counts of zero.
    public init() {}
}
