/// How far a compressed body may grow.
public struct DecompressionLimits: Sendable, Hashable {
    /// How many times larger than its compressed form a body may be.
    ///
    /// It counts from ``allowance`` on, and cannot be passed by more than 64 KiB.
    public var ratio: Int

    /// How many bytes any body may have, whatever its ratio.
    public var allowance: Int64

    /// How many bytes a body may have at most; nil is no limit beside the ratio.
    public var total: Int64?

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - ratio: How many times larger than its compressed form a body may be.
    ///   - allowance: How many bytes any body may have, whatever its ratio.
    ///   - total: How many bytes a body may have at most.
    public init(ratio: Int = 200, allowance: Int64 = 1024 * 1024, total: Int64? = nil) {
        self.ratio = ratio
        self.allowance = allowance
        self.total = total
    }

    func permit(_ output: Int64, from input: Int64) -> Bool {
        if let total, output > total { return false }
        return output <= allowance || output / Int64(max(ratio, 1)) <= input
    }
}
