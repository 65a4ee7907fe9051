import KeelCore
import Synchronization

/// A stand-in for real encryption, with its promises and none of its strength.
final class ToySealing: ByteSealing {
    struct Refusal: Error {}

    private let key: UInt64
    private let nonce = Atomic<UInt64>(1)

    init(key: UInt64) { self.key = key }

    func seal(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8] {
        let number = nonce.add(1, ordering: .relaxed).newValue
        return Self.bytes(number) + mixed(plain, number) + Self.bytes(hash(plain + context, number))
    }

    func open(_ sealed: [UInt8], context: [UInt8]) throws -> [UInt8] {
        guard sealed.count >= 16 else { throw Refusal() }
        let number = sealed[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        let plain = mixed(Array(sealed[8..<sealed.count - 8]), number)
        guard Self.bytes(hash(plain + context, number)) == Array(sealed.suffix(8)) else {
            throw Refusal()
        }
        return plain
    }

    func fingerprint(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8] {
        (0..<4).flatMap { Self.bytes(hash(plain + context, $0)) }
    }

    private func mixed(_ bytes: [UInt8], _ number: UInt64) -> [UInt8] {
        var stream = SeededGenerator(seed: key ^ number &* 0x1234_5677)
        return bytes.map { $0 ^ UInt8(truncatingIfNeeded: stream.next()) }
    }

    private func hash(_ bytes: [UInt8], _ number: UInt64) -> UInt64 {
        bytes.reduce(key ^ number &* 0x9E37_79B9) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }
}
