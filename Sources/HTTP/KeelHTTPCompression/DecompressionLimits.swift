/// The limits on the growth of a compressed body.
public struct DecompressionLimits: Sendable, Hashable {
    /// The maximum ratio of a body's size to its compressed size.
    ///
    /// Applies above ``allowance``, and is exceeded by at most 64 KiB.
    public var ratio: Int

    /// The size in bytes allowed whatever the ratio.
    public var allowance: Int64

    /// The maximum size of a body in bytes, or nil for no limit besides the ratio.
    public var total: Int64?

    /// Creates limits.
    ///
    /// - Parameters:
    ///   - ratio: The maximum ratio of a body's size to its compressed size.
    ///   - allowance: The size in bytes allowed whatever the ratio.
    ///   - total: The maximum size of a body in bytes.
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
