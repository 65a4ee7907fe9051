/// What has happened to a journal since it was opened.
public struct JournalStatistics: Hashable, Sendable {
    /// How many records were kept.
    public var appended = 0
    /// How many appends failed.
    public var refused = 0
    /// How many records or ends of segments were torn or damaged, and passed over by consumers.
    public var damaged = 0
    /// How many segments were removed to keep within the bounds.
    public var removedSegments = 0

    /// Creates counts of nothing.
    public init() {}
}
