package import KeelCore

/// Argon2 version 1.3 (RFC 9106), computed on one thread.
package struct Argon2 {
    /// The three ways to select the blocks that are mixed.
    package enum Variant: UInt32, CaseIterable {
        case d, i, id

        package var name: String {
            switch self {
            case .d: "argon2d"
            case .i: "argon2i"
            case .id: "argon2id"
            }
        }
    }

    private let variant: Variant
    private let cost: Argon2Cost
    private let count: Int
    private let secret: [UInt8]
    private let associatedData: [UInt8]

    private var memory: Int { cost.memory }
    private var passes: Int { cost.passes }
    private var lanes: Int { cost.lanes }
    private var segmentLength: Int { memory / (4 * lanes) }
    private var laneLength: Int { 4 * segmentLength }

    /// Creates a hash function.
    ///
    /// - Parameters:
    ///   - variant: How blocks are selected.
    ///   - cost: The cost, which must be sound.
    ///   - count: The size of a tag in bytes, at least four.
    ///   - secret: An optional key that verification needs as well.
    ///   - associatedData: Optional data that the tag depends on.
    package init(
        _ variant: Variant = .id,
        cost: Argon2Cost,
        count: Int,
        secret: [UInt8] = [],
        associatedData: [UInt8] = []
    ) {
        self.variant = variant
        self.cost = cost
        self.count = count
        self.secret = secret
        self.associatedData = associatedData
    }

    package func hash(_ password: [UInt8], salt: [UInt8]) -> [UInt8] {
        let total = lanes * laneLength * Argon2Block.words
        let blocks = UnsafeMutablePointer<UInt64>.allocate(capacity: total)
        let scratch = UnsafeMutablePointer<UInt64>.allocate(capacity: 5 * Argon2Block.words)
        blocks.initialize(repeating: 0, count: total)
        scratch.initialize(repeating: 0, count: 5 * Argon2Block.words)
        defer {
            // Leftovers in memory would help to guess the password.
            blocks.update(repeating: 0, count: total)
            scratch.update(repeating: 0, count: 5 * Argon2Block.words)
            blocks.deallocate()
            scratch.deallocate()
        }
        begin(blocks, start(password, salt))
        for pass in 0..<passes {
            for slice in 0..<4 {
                for lane in 0..<lanes { fill(blocks, pass, slice, lane, scratch) }
            }
        }
        return end(blocks)
    }

    private func start(_ password: [UInt8], _ salt: [UInt8]) -> [UInt8] {
        let numbers = [lanes, count, memory, passes, 0x13].map { UInt32($0) }
        var input = [UInt8](littleEndian: numbers + [variant.rawValue])
        for part in [password, salt, secret, associatedData] {
            input.append(littleEndian: UInt32(part.count))
            input += part
        }
        defer { Zeroing.overwrite(&input) }
        return BLAKE2b.hash(input, count: 64)
    }

    private func begin(_ blocks: UnsafeMutablePointer<UInt64>, _ start: [UInt8]) {
        for lane in 0..<lanes {
            for index in 0..<2 {
                let input = start + [UInt8](littleEndian: [UInt32(index), UInt32(lane)])
                let bytes = Self.longHash(input, count: 1024)
                let block = blocks + (lane * laneLength + index) * Argon2Block.words
                bytes.withUnsafeBytes { bytes in
                    for word in 0..<Argon2Block.words { block[word] = bytes.word(at: 8 * word) }
                }
            }
        }
    }

    private func end(_ blocks: UnsafeMutablePointer<UInt64>) -> [UInt8] {
        var bytes: [UInt8] = []
        for word in 0..<Argon2Block.words {
            var sum: UInt64 = 0
            for lane in 0..<lanes {
                sum ^= blocks[((lane + 1) * laneLength - 1) * Argon2Block.words + word]
            }
            bytes.append(littleEndian: sum)
        }
        return Self.longHash(bytes, count: count)
    }

    private func fill(
        _ blocks: UnsafeMutablePointer<UInt64>,
        _ pass: Int,
        _ slice: Int,
        _ lane: Int,
        _ scratch: UnsafeMutablePointer<UInt64>
    ) {
        let isIndependent = variant == .i || (variant == .id && pass == 0 && slice < 2)
        let addresses = scratch + 2 * Argon2Block.words
        let input = scratch + 3 * Argon2Block.words
        let zero = scratch + 4 * Argon2Block.words
        if isIndependent {
            let head = [pass, lane, slice, lanes * laneLength, passes, Int(variant.rawValue), 0]
            for (index, value) in head.enumerated() { input[index] = UInt64(value) }
        }
        for index in 0..<segmentLength {
            // The first two blocks already exist, and their addresses are not used.
            let isGiven = pass == 0 && slice == 0 && index < 2
            if isIndependent, index % Argon2Block.words == 0 {
                input[6] += 1
                Argon2Block.compress(zero, input, into: addresses, isMixing: false, scratch)
                Argon2Block.compress(zero, addresses, into: addresses, isMixing: false, scratch)
            }
            if isGiven { continue }
            let place = slice * segmentLength + index
            let before = place == 0 ? laneLength - 1 : place - 1
            let previous = blocks + (lane * laneLength + before) * Argon2Block.words
            let random = isIndependent ? addresses[index % Argon2Block.words] : previous[0]
            let reference = reference(random, pass, slice, lane, index)
            Argon2Block.compress(
                previous,
                blocks + reference * Argon2Block.words,
                into: blocks + (lane * laneLength + place) * Argon2Block.words,
                isMixing: pass > 0,
                scratch
            )
        }
    }

    /// Returns the index of the block to mix with (RFC 9106, section 3.4).
    @inline(__always)
    private func reference(
        _ random: UInt64,
        _ pass: Int,
        _ slice: Int,
        _ lane: Int,
        _ index: Int
    ) -> Int {
        let other = pass == 0 && slice == 0 ? lane : Int(random >> 32) % lanes
        let done = pass == 0 ? slice * segmentLength : 3 * segmentLength
        let own = other == lane ? index - 1 : (index == 0 ? -1 : 0)
        let area = UInt64(done + own)
        let low = random & 0xFFFF_FFFF
        let back = (area &* ((low &* low) &>> 32)) &>> 32
        let first = pass == 0 || slice == 3 ? 0 : (slice + 1) * segmentLength
        return other * laneLength + (first + Int(area) - 1 - Int(back)) % laneLength
    }

    /// Returns a BLAKE2b hash of any length (RFC 9106, section 3.3).
    static func longHash(_ input: [UInt8], count: Int) -> [UInt8] {
        let input = [UInt8](littleEndian: [UInt32(count)]) + input
        guard count > 64 else { return BLAKE2b.hash(input, count: count) }
        var part = BLAKE2b.hash(input, count: 64)
        var result = Array(part.prefix(32))
        while count - result.count > 64 {
            part = BLAKE2b.hash(part, count: 64)
            result += part.prefix(32)
        }
        return result + BLAKE2b.hash(part, count: count - result.count)
    }
}
