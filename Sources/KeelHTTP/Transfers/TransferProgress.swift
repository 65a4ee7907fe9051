/// How far an upload or a download has come.
public struct TransferProgress: Sendable, Hashable {
    /// How many bytes the network has taken or delivered.
    public var completedBytes: Int64

    /// How many bytes there are in all, where that is known.
    public var totalBytes: Int64?

    /// Creates a report.
    public init(completedBytes: Int64, totalBytes: Int64? = nil) {
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
    }

    /// The part that is done, from 0 to 1; nil where the total is not known.
    public var fraction: Double? {
        guard let totalBytes else { return nil }
        guard totalBytes > 0 else { return 1 }
        return min(1, Double(completedBytes) / Double(totalBytes))
    }
}
