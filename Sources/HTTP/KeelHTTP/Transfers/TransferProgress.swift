/// The progress of an upload or a download.
public struct TransferProgress: Sendable, Hashable {
    /// The number of bytes that the network has taken or delivered.
    public var completedBytes: Int64

    /// The total number of bytes, if known.
    public var totalBytes: Int64?

    /// Creates a report.
    public init(completedBytes: Int64, totalBytes: Int64? = nil) {
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
    }

    /// The completed fraction, from 0 to 1; nil if the total is unknown.
    public var fraction: Double? {
        guard let totalBytes else { return nil }
        guard totalBytes > 0 else { return 1 }
        return min(1, Double(completedBytes) / Double(totalBytes))
    }
}
