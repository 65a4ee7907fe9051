/// A summary of a differential run, which shows how many operations were effective.
public struct FuzzSummary: Sendable, Hashable, CustomStringConvertible {
    /// The number of writes, reads and index declarations.
    public internal(set) var operations = 0
    /// The number of committed batches.
    public internal(set) var batches = 0
    /// The number of batches that both adapters refused.
    public internal(set) var refusedBatches = 0
    /// The number of reads.
    public internal(set) var reads = 0
    /// The number of reads that found something.
    public internal(set) var answeredReads = 0
    /// The number of these reads that were of the past.
    public internal(set) var pastReads = 0
    /// The number of queries that the second adapter answered from a declared index.
    public internal(set) var indexedReads = 0

    public var description: String {
        "\(operations) operations: \(batches) batches, of which \(refusedBatches) refused; "
            + "\(reads) reads, of which \(answeredReads) found something (\(pastReads) of them in the "
            + "past) and \(indexedReads) used an index"
    }
}
