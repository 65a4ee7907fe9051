/// The cost of making a key or a hash from a password with Argon2 (RFC 9106).
public struct Argon2Cost: Hashable, Sendable {
    /// Memory in KiB.
    public var memory: Int
    /// How many times the memory is filled.
    public var passes: Int
    /// How many lanes the memory has; Keel computes them one after the other.
    public var lanes: Int

    /// Creates a cost; the usual one is 19 MiB, two passes and one lane, as OWASP's Password Storage
    /// Cheat Sheet has it.
    ///
    /// - Parameters:
    ///   - memory: Memory in KiB, at least 8 for each lane, at most 1 GiB.
    ///   - passes: How many times the memory is filled, 1 to 1024.
    ///   - lanes: How many lanes the memory has, 1 to 64.
    public init(memory: Int = 19_456, passes: Int = 2, lanes: Int = 1) {
        self.memory = memory
        self.passes = passes
        self.lanes = lanes
    }

    /// Whether it is within the bounds.
    ///
    /// A hash, or the header of a file, comes from outside: it must not ask for hours or for all of
    /// the memory.
    package var isSound: Bool {
        (1...64).contains(lanes) && (1...1024).contains(passes)
            && (8 * lanes...1 << 20).contains(memory)
    }
}
