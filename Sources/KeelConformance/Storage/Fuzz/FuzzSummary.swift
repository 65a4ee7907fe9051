/// What a differential run did, to see that it looked at more than refusals and empty answers.
public struct FuzzSummary: Sendable, Hashable, CustomStringConvertible {
    /// How many writes, reads and declarations of indexes were made.
    public internal(set) var operations = 0
    /// How many batches were committed.
    public internal(set) var batches = 0
    /// How many of them were refused, by both adapters.
    public internal(set) var refusedBatches = 0
    /// How many questions were asked.
    public internal(set) var reads = 0
    /// How many of them found something.
    public internal(set) var answeredReads = 0
    /// How many of these were about the past.
    public internal(set) var pastReads = 0
    /// How many queries the second adapter answered from a declared index.
    public internal(set) var indexedReads = 0

    public var description: String {
        "\(operations) operations: \(batches) batches, of which \(refusedBatches) refused; "
            + "\(reads) reads, of which \(answeredReads) found something (\(pastReads) of them in the "
            + "past) and \(indexedReads) used an index"
    }
}
