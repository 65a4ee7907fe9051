#if Crypto
internal import Crypto
internal import KeelArgon2
internal import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

enum SealedFileEntry: Sendable {
    /// The key for a recipient, encrypted with HPKE.
    case recipient(Data)
    case passphrase(SealedFilePassphrase)
    /// A kind that a later version added; this one passes over it.
    case unknown(kind: UInt8, Data)

    /// The size of an encapsulated key, the file's key and a tag.
    static let recipientByteCount = 32 + 32 + 16
    private static let maximumCount = 10_000

    var bytes: [UInt8] {
        switch self {
        case .recipient(let wrapped): Self.framed(1, Array(wrapped))
        case .passphrase(let entry): Self.framed(2, entry.bytes)
        case .unknown(let kind, let body): Self.framed(kind, Array(body))
        }
    }

    static func read(_ body: [UInt8]) throws(SecurityError) -> [Self] {
        var entries: [Self] = []
        var rest = body[...]
        while !rest.isEmpty {
            let head = Array(rest.prefix(3))
            guard head.count == 3, entries.count < maximumCount else {
                throw SealedFileHeader.refusal
            }
            let count = Int(head[1]) << 8 | Int(head[2])
            let content = rest.dropFirst(3).prefix(count)
            guard content.count == count else { throw SealedFileHeader.refusal }
            rest = rest.dropFirst(3 + count)
            switch head[0] {
            case 1:
                guard count == recipientByteCount else { throw SealedFileHeader.refusal }
                entries.append(.recipient(Data(content)))
            case 2:
                guard let entry = SealedFilePassphrase(bytes: Array(content)) else {
                    throw SealedFileHeader.refusal
                }
                entries.append(.passphrase(entry))
            default:
                entries.append(.unknown(kind: head[0], Data(content)))
            }
        }
        let passphrases = entries.count { if case .passphrase = $0 { true } else { false } }
        // A passphrase beside recipients would not authenticate the writer.
        guard !entries.isEmpty, passphrases == 0 || entries.count == 1 else {
            throw SealedFileHeader.refusal
        }
        return entries
    }

    private static func framed(_ kind: UInt8, _ body: [UInt8]) -> [UInt8] {
        [kind, UInt8(body.count >> 8), UInt8(body.count & 0xFF)] + body
    }
}

/// The file's key, encrypted under a key that Argon2id derives from a passphrase.
struct SealedFilePassphrase: Sendable {
    private static let saltByteCount = 16
    private static let wrappedByteCount = 32 + 16
    /// The most that a header may demand, in KiB of memory times passes: about a minute of work.
    private static let mostWork = 1 << 24

    private let cost: Argon2Cost
    private let salt: [UInt8]
    private let wrapped: [UInt8]

    static func isSound(_ cost: Argon2Cost) -> Bool {
        cost.isSound && cost.memory * cost.passes <= mostWork
    }

    init(
        wrapping key: SymmetricKey,
        under passphrase: String,
        cost: Argon2Cost
    ) throws(SecurityError) {
        self.cost = cost
        salt = Array(try SecurityService().generateSecureRandomBytes(count: Self.saltByteCount))
        let wrappingKey = Self.key(passphrase, salt, cost)
        do {
            // The key is used for these bytes only, so that a fixed nonce is safe.
            let nonce = try ChaChaPoly.Nonce(data: Data(count: 12))
            let plain = key.withUnsafeBytes { Data($0) }
            let box = try ChaChaPoly.seal(plain, using: wrappingKey, nonce: nonce)
            wrapped = Array(box.ciphertext + box.tag)
        } catch {
            throw SecurityError(.encryptionFailed, "the file's key was not encrypted", cause: error)
        }
    }

    init?(bytes: [UInt8]) {
        guard bytes.count == 12 + Self.saltByteCount + Self.wrappedByteCount else { return nil }
        func number(_ index: Int) -> Int {
            Int(UInt32(bigEndianBytes: bytes[4 * index..<4 * index + 4]))
        }
        cost = Argon2Cost(memory: number(0), passes: number(1), lanes: number(2))
        salt = Array(bytes[12..<12 + Self.saltByteCount])
        wrapped = Array(bytes.suffix(Self.wrappedByteCount))
    }

    var bytes: [UInt8] {
        let numbers = [cost.memory, cost.passes, cost.lanes]
        return numbers.flatMap { UInt32($0).bigEndianBytes } + salt + wrapped
    }

    func unwrap(with passphrase: String) throws(SecurityError) -> SymmetricKey? {
        guard Self.isSound(cost) else {
            throw SecurityError(
                .decryptionFailed,
                "the header of the file demands \(cost.memory >> 10) MiB of memory and "
                    + "\(cost.passes) passes for its passphrase, beyond the limits"
            )
        }
        guard let nonce = try? ChaChaPoly.Nonce(data: Data(count: 12)),
            let box = try? ChaChaPoly.SealedBox(
                nonce: nonce,
                ciphertext: Data(wrapped.prefix(32)),
                tag: Data(wrapped.suffix(16))
            ),
            let plain = try? ChaChaPoly.open(box, using: Self.key(passphrase, salt, cost))
        else { return nil }
        return SymmetricKey(data: plain)
    }

    private static func key(
        _ passphrase: String,
        _ salt: [UInt8],
        _ cost: Argon2Cost
    ) -> SymmetricKey {
        SymmetricKey(data: Argon2(cost: cost, count: 32).hash(Array(passphrase.utf8), salt: salt))
    }
}
#endif
