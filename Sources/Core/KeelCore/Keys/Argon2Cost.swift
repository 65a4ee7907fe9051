/// The cost of deriving a key or hash from a password with Argon2 (RFC 9106).
public struct Argon2Cost: Hashable, Sendable {
    /// The memory in KiB, at least 8 per lane, at most 1 GiB.
    public var memory: Int
    /// The number of passes over the memory, from 1 to 1024.
    public var passes: Int
    /// The number of lanes of the memory, from 1 to 64; Keel computes them sequentially.
    public var lanes: Int

    /// Creates a cost.
    ///
    /// The default is 19 MiB, two passes and one lane, as recommended by OWASP's Password Storage Cheat Sheet.
    public init(memory: Int = 19_456, passes: Int = 2, lanes: Int = 1) {
        self.memory = memory
        self.passes = passes
        self.lanes = lanes
    }

    /// Whether the cost is within bounds.
    ///
    /// A hash or the header of a file may be untrusted, and must not demand hours or all of the memory.
    package var isSound: Bool {
        (1...64).contains(lanes) && (1...1024).contains(passes)
            && (8 * lanes...1 << 20).contains(memory)
    }
}
