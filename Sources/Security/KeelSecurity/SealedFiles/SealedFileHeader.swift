#if Crypto
internal import Crypto
public import KeelCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The header of a sealed file, which holds the file's key, encrypted for recipients or under a passphrase.
///
/// ```swift
/// let (header, encryptor) = try SealedFileHeader.sealing(for: [recipient])
/// try file.write(contentsOf: header.bytes)
/// try file.write(contentsOf: try encryptor.update(piece))
/// try file.write(contentsOf: try encryptor.finish())
/// ```
///
/// A sealed file is the header and a stream of ``StreamingEncryption`` under a key of its own. Opening a file under a
/// passphrase proves that the writer had the passphrase. Recipients do not authenticate the writer.
///
/// To read a file, ``init(beginning:)`` finds the header, and `decryptor(…)` opens the stream after it. The file format
/// is described in `Documentation/Protocols/SealedFile.md`.
public struct SealedFileHeader: Sendable {
    static let magic = Array("KEELSEAL".utf8)
    static let version: UInt8 = 1
    static let macByteCount = 32
    static let prefixByteCount = 13
    /// The maximum size of the entries in bytes: headers are read whole, and may come from anyone.
    static let maximumEntryByteCount = 1 << 20

    /// The cost of trying a passphrase in new files: 64 MiB, three passes and four lanes (RFC 9106, section 4).
    public static let passphraseCost = Argon2Cost(memory: 65_536, passes: 3, lanes: 4)

    /// The header as it is written to the file.
    public let bytes: Data

    let entries: [SealedFileEntry]

    /// Whether the file was sealed under a passphrase, and not for recipients.
    public var usesPassphrase: Bool {
        guard case .passphrase = entries.first else { return false }
        return true
    }

    /// The number of recipients that the file was sealed for; 0 with a passphrase.
    public var recipientCount: Int { usesPassphrase ? 0 : entries.count }

    // MARK: Sealing

    /// Begins a file that any one of the recipients can open.
    ///
    /// - Parameters:
    ///   - recipients: The recipients, at least one and at most 10,000. The file does not name them.
    ///   - context: The purpose of the file. It is not stored, and opening needs the same bytes.
    /// - Returns: The header, to be written first, and the encryptor of everything after it.
    /// - Throws: `invalidArgument` for no or too many recipients, `encryptionFailed` or `randomGenerationFailed`.
    public static func sealing(
        for recipients: [SealedFileRecipient],
        context: Data = Data()
    ) throws(SecurityError) -> (header: Self, encryptor: StreamEncryptor) {
        guard (1...10_000).contains(recipients.count) else {
            throw SecurityError(.invalidArgument, "a sealed file needs 1 to 10,000 recipients")
        }
        let key = SymmetricKey(size: .bits256)
        var entries: [SealedFileEntry] = []
        for recipient in recipients {
            entries.append(.recipient(try recipient.wrap(key)))
        }
        return try begin(key, entries, context)
    }

    /// Begins a file that a passphrase opens.
    ///
    /// - Parameters:
    ///   - passphrase: The passphrase, which is used as UTF-8, without normalization.
    ///   - cost: The cost of trying a passphrase: at most 1 GiB, 1024 passes and 64 lanes, and memory times passes at
    ///     most 16 GiB.
    ///   - context: The purpose of the file. It is not stored, and opening needs the same bytes.
    /// - Returns: The header, to be written first, and the encryptor of everything after it.
    /// - Throws: `invalidArgument` for an empty passphrase or a cost out of bounds, `encryptionFailed` or
    ///   `randomGenerationFailed`.
    @concurrent
    public static func sealing(
        passphrase: String,
        cost: Argon2Cost = Self.passphraseCost,
        context: Data = Data()
    ) async throws(SecurityError) -> (header: Self, encryptor: StreamEncryptor) {
        guard !passphrase.isEmpty else {
            throw SecurityError(.invalidArgument, "the passphrase must not be empty")
        }
        guard SealedFilePassphrase.isSound(cost) else {
            throw SecurityError(.invalidArgument, "the cost of the passphrase is out of bounds")
        }
        let key = SymmetricKey(size: .bits256)
        let entry = try SealedFilePassphrase(wrapping: key, under: passphrase, cost: cost)
        return try begin(key, [.passphrase(entry)], context)
    }

    private static func begin(
        _ key: SymmetricKey,
        _ entries: [SealedFileEntry],
        _ context: Data
    ) throws(SecurityError) -> (header: Self, encryptor: StreamEncryptor) {
        let header = Self(entries, under: key)
        let streams = try header.streams(key)
        return (header, try streams.encryptor(associatedData: header.mac + context))
    }

    private init(_ entries: [SealedFileEntry], under key: SymmetricKey) {
        let body = Data(entries.flatMap(\.bytes))
        let head = Data(Self.magic + [Self.version] + UInt32(body.count).bigEndianBytes) + body
        self.entries = entries
        bytes = head + Self.mac(of: head, under: key)
    }

    // MARK: Opening

    /// Reads the header from the beginning of a file, or returns nil if it continues after these bytes.
    ///
    /// - Parameter beginning: The first bytes of the file. A header has at most 1 MiB and 45 bytes, usually less than 1
    ///   KiB.
    /// - Throws: `invalidArgument` for something other than a sealed file, `unsupportedKey` for a later version, or
    ///   `decryptionFailed` for a damaged header.
    public init?(beginning: Data) throws(SecurityError) {
        let start = Array(beginning.prefix(Self.prefixByteCount))
        guard start.starts(with: Self.magic.prefix(start.count)) else {
            throw SecurityError(.invalidArgument, "this is not a sealed file")
        }
        if start.count > Self.magic.count, start[Self.magic.count] != Self.version {
            throw SecurityError(
                .unsupportedKey,
                "the sealed file has the unsupported version \(start[Self.magic.count])"
            )
        }
        guard start.count == Self.prefixByteCount else { return nil }
        let count = Int(UInt32(bigEndianBytes: start.suffix(4)))
        guard count <= Self.maximumEntryByteCount else { throw Self.refusal }
        let total = Self.prefixByteCount + count + Self.macByteCount
        guard beginning.count >= total else { return nil }
        bytes = Data(beginning.prefix(total))
        entries = try SealedFileEntry.read(
            Array(bytes.dropFirst(Self.prefixByteCount).dropLast(Self.macByteCount))
        )
    }

    /// Opens the stream after the header with a private key.
    ///
    /// - Parameters:
    ///   - identities: Private keys, of which one has to be a recipient's.
    ///   - context: The context that was given when the file was sealed.
    /// - Returns: The decryptor of everything after ``bytes``.
    /// - Throws: `keyNotFound` if none of the keys opens the file, or it was sealed under a passphrase;
    ///   `decryptionFailed` for a damaged header. The decryptor detects a different context.
    public func decryptor(
        identities: [SealedFileIdentity],
        context: Data = Data()
    ) throws(SecurityError) -> StreamDecryptor {
        guard !usesPassphrase else {
            throw SecurityError(.keyNotFound, "the file was sealed under a passphrase")
        }
        for case .recipient(let wrapped) in entries {
            for identity in identities {
                guard let key = identity.unwrap(wrapped) else { continue }
                guard isAuthentic(under: key) else { throw Self.refusal }
                return try streams(key).decryptor(associatedData: mac + context)
            }
        }
        throw SecurityError(.keyNotFound, "the file was sealed for other recipients")
    }

    /// Opens the stream after the header with a passphrase.
    ///
    /// - Parameters:
    ///   - passphrase: The passphrase.
    ///   - context: The context that was given when the file was sealed.
    /// - Returns: The decryptor of everything after ``bytes``.
    /// - Throws: `keyNotFound` if the file was sealed for recipients; `decryptionFailed` for another passphrase or a
    ///   damaged header, or if the header demands a cost beyond the bounds of `sealing(passphrase:cost:context:)`. The
    ///   decryptor detects a different context.
    @concurrent
    public func decryptor(
        passphrase: String,
        context: Data = Data()
    ) async throws(SecurityError) -> StreamDecryptor {
        guard case .passphrase(let entry) = entries.first else {
            throw SecurityError(.keyNotFound, "the file was sealed for recipients")
        }
        // Damage and a wrong passphrase are one error: telling them apart would let a crafted file test passphrases.
        guard let key = try entry.unwrap(with: passphrase), isAuthentic(under: key) else {
            throw SecurityError(
                .decryptionFailed,
                "the passphrase is another one, or the header of the file is damaged"
            )
        }
        return try streams(key).decryptor(associatedData: mac + context)
    }

    // MARK: Parts

    static let refusal = SecurityError(
        .decryptionFailed,
        "the header of the sealed file is damaged"
    )

    private var mac: Data { Data(bytes.suffix(Self.macByteCount)) }

    private func isAuthentic(under key: SymmetricKey) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(
            mac,
            authenticating: bytes.dropLast(Self.macByteCount),
            using: Self.derived(key, "header")
        )
    }

    private static func mac(of head: Data, under key: SymmetricKey) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: head, using: derived(key, "header")))
    }

    private func streams(_ key: SymmetricKey) throws(SecurityError) -> StreamingEncryption {
        let streamKey = KeysetKey(
            id: 1,
            algorithm: .aes256GCMHKDF64KB,
            prefix: .raw,
            status: .enabled,
            dates: KeyDates(),
            material: Self.derived(key, "stream")
        )
        return try StreamingEncryption(keyset: Keyset(keys: [streamKey], primaryID: 1))
    }

    private static func derived(_ key: SymmetricKey, _ purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key,
            info: Array("keel sealed file v1 \(purpose)".utf8),
            outputByteCount: 32
        )
    }
}
#endif
