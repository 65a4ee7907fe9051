#if Crypto
internal import Crypto
public import KeelCore
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A keyset in use, which counts messages and rotates a key before it is used too often.
///
/// The keys' dates decide which key encrypts. A ring that can save its keyset adds a new primary key when the current
/// one has encrypted ``Configuration/messageLimit`` messages. A ring that cannot save refuses to encrypt at that point.
///
/// The count is stored in the keyset ahead of use: after a crash it is too high, never too low. The rings of one
/// ``KeysetFile`` share their count across processes. A ring without a file counts only its own messages, starting from
/// its keyset's count: save ``keyset`` if the limit must hold across launches.
public final class KeyRing: Sendable {
    /// The limits of a ring, and the closure that saves its keyset.
    public struct Configuration: Sendable {
        /// The number of messages after which a key is replaced.
        ///
        /// With random nonces of 96 bits a key may encrypt 2³² messages (NIST SP 800-38D); the default is half of that.
        public var messageLimit: UInt64 = 1 << 31
        /// The maximum number of messages that are counted ahead with each save.
        ///
        /// The first save reserves 16 messages and each following one twice as many.
        public var maximumReservation: UInt64 = 1 << 20
        /// Saves the keyset; nil if the ring must not add or destroy keys.
        ///
        /// The closure runs while the ring's other callers wait. It must have stored the keyset when it returns, and
        /// must not call the ring. The ring of a ``KeysetFile`` does not call it.
        public var save: (@Sendable (Keyset) throws -> Void)?
        /// The clock.
        public var now: @Sendable () -> Date = { Date.now }

        /// Creates the default configuration.
        public init() {}
    }

    private let configuration: Configuration
    private let follower: KeysetFollower?
    private let state: Mutex<KeyRingState>

    /// Creates a ring with a keyset.
    public convenience init(_ keyset: Keyset, configuration: Configuration = Configuration()) {
        self.init(keyset, configuration: configuration, following: nil)
    }

    init(_ keyset: Keyset, configuration: Configuration, following follower: KeysetFollower?) {
        self.configuration = configuration
        self.follower = follower
        state = Mutex(KeyRingState(keyset, reservation: configuration.maximumReservation))
    }

    /// The current keyset, including changes that others have written to its file.
    public var keyset: Keyset { current(\.keyset) }

    /// Replaces the keyset.
    ///
    /// For keys in both keysets, the higher count applies. Change the file of a ``KeysetFile`` instead; pass the result
    /// of ``KeysetFile/load()`` to accept a file whose keyset was replaced by an unrelated one.
    ///
    /// - Parameter keyset: The new keyset. Data encrypted with keys that it lacks can no longer be decrypted.
    public func replace(with keyset: Keyset) {
        state.withLock { $0.take(keyset) }
    }

    /// Asks the sources of the ring's ``KeysetFile`` for their keys again, and reads the file.
    ///
    /// This is needed when the file is under a key-encryption key that its sources did not have when the ring was
    /// created.
    ///
    /// - Throws: The errors of ``KeysetFile/load()``; the ring then keeps its keys.
    public func refresh() async throws(SecurityError) {
        guard let follower else { return }
        try await follower.refresh()
        try state.withLock { state throws(SecurityError) in try take(from: follower, &state) }
    }

    /// Encrypts and authenticates data with the primary key.
    ///
    /// - Parameters:
    ///   - data: The plaintext.
    ///   - associatedData: The context that the ciphertext is bound to; decryption needs the same bytes.
    /// - Returns: `prefix ‖ nonce ‖ ciphertext ‖ tag`.
    /// - Throws: `keyNotFound` if no key may encrypt now, `usageLimitReached`, `keyStoreFailed`, `encryptionFailed`, or
    ///   `invalidArgument` if the keys are not for values.
    public func encrypt(
        _ data: some DataProtocol,
        associatedData: some DataProtocol
    ) throws(SecurityError) -> Data {
        try nextKey().seal(data, associatedData)
    }

    /// Decrypts the result of ``encrypt(_:associatedData:)`` with any enabled key, or throws `decryptionFailed`.
    public func decrypt(
        _ data: Data,
        associatedData: some DataProtocol
    ) throws(SecurityError) -> Data {
        try opened(data, associatedData).plain
    }

    func opened(
        _ data: Data,
        _ associatedData: some DataProtocol
    ) throws(SecurityError) -> (plain: Data, keyID: UInt32) {
        let start = SealingKey.start(of: data)
        for key in current(\.keys) {
            if let plain = key.open(data, start, associatedData) { return (plain, key.id) }
        }
        throw SecurityError(
            .decryptionFailed,
            "the data is damaged, has different associated data, or needs a key that is not enabled"
        )
    }

    var fingerprintKey: SymmetricKey { state.withLock(\.fingerprint) }

    // MARK: Primary key

    private func nextKey() throws(SecurityError) -> SealingKey {
        let isStale = follower?.isCurrent == false
        return try state.withLock { state throws(SecurityError) in
            if isStale { follow(&state) }
            try doWhatIsDue(&state)
            if state.remaining == 0 { try reserve(&state) }
            guard let primary = state.primary else {
                throw SecurityError(.keyNotFound, "the primary key is not enabled")
            }
            state.useOne()
            return primary
        }
    }

    /// Returns the primary key for uses that are not counted: streams and public keys.
    func primaryKey() throws(SecurityError) -> KeysetKey {
        let isStale = follower?.isCurrent == false
        return try state.withLock { state throws(SecurityError) in
            if isStale { follow(&state) }
            if state.isInDoubt { try change(&state) { _ in } }
            try doWhatIsDue(&state)
            return state.keyset.primary
        }
    }

    private func doWhatIsDue(_ state: inout KeyRingState) throws(SecurityError) {
        guard state.hasDates else { return }
        let now = configuration.now()
        do throws(SecurityError) {
            if state.isDue(at: now) {
                try change(&state) { keyset in _ = keyset.advance(to: now) }
            }
            try destroyWhatIsDue(&state, at: now)
        } catch {
            // Without its file the ring goes on, as long as its key may encrypt; the next message tries again. But the
            // file may just have been replaced.
            follow(&state)
            guard follower != nil, !state.isInDoubt,
                state.keyset.primary.dates.allowsEncryption(at: now)
            else { throw error }
        }
        guard state.keyset.primary.dates.allowsEncryption(at: now) else {
            throw SecurityError(
                .keyNotFound,
                "the dates of the keys allow none of them to encrypt now"
            )
        }
    }

    /// Destroys the keys whose dates have surely passed, in a ring that can save its keyset.
    private func destroyWhatIsDue(
        _ state: inout KeyRingState,
        at now: Date
    ) throws(SecurityError) {
        guard keeps, state.looksForDestruction(at: now) else { return }
        let certain =
            switch follower {
            case let follower?: follower.certainTime(at: now)
            case nil: state.certainTime(at: now)
            }
        guard let time = certain else { return }
        var next = state.keyset
        guard next.destroyKeys(dueAt: time) else { return }
        try change(&state) { keyset in _ = keyset.destroyKeys(dueAt: time) }
    }

    /// Counts messages ahead, and rotates a key that has reached its limit.
    private func reserve(_ state: inout KeyRingState) throws(SecurityError) {
        let wanted = state.nextReservation(upTo: configuration.maximumReservation)
        var count: UInt64 = 0
        try change(&state) { keyset throws(SecurityError) in
            // The file may have changed since it was last checked.
            _ = keyset.advance(to: configuration.now())
            if keyset.primary.usage >= configuration.messageLimit {
                guard keeps else {
                    throw SecurityError(
                        .usageLimitReached,
                        "key \(keyset.primaryID) has reached its message limit"
                    )
                }
                try keyset.rotate(at: configuration.now())
            }
            let index = try keyset.index(of: keyset.primaryID)
            let used = keyset.keys[index].usage
            count = max(
                1,
                min(wanted, configuration.messageLimit - min(used, configuration.messageLimit))
            )
            keyset.keys[index].usage = used + count
        }
        state.reserved(count)
    }

    // MARK: Storage of the keyset

    private var keeps: Bool { follower != nil || configuration.save != nil }

    /// Returns a part of the state after checking the file for changes.
    private func current<Value>(_ part: (KeyRingState) -> Value) -> Value {
        let isStale = follower?.isCurrent == false
        return state.withLock { state in
            if isStale { follow(&state) }
            return part(state)
        }
    }

    /// Takes over changes of the file; on failure, the next reservation reports the reason.
    private func follow(_ state: inout KeyRingState) {
        guard let follower, !follower.isCurrent else { return }
        try? take(from: follower, &state)
    }

    /// Takes over the keyset of the file, or gives up the reservation if the file no longer has the primary key.
    private func take(
        from follower: KeysetFollower,
        _ state: inout KeyRingState
    ) throws(SecurityError) {
        let primary = state.keyset.primaryID
        do throws(SecurityError) {
            let found = try follower.read()
            if found.key(primary) == nil {
                state.invalidateReservation()
            } else {
                state.take(found)
            }
        } catch {
            let isGivenUp = follower.status(of: primary) != .enabled
            if error.code == .keyNotFound || error.code == .decryptionFailed && isGivenUp {
                state.invalidateReservation()
            }
            throw error
        }
    }

    private func change(
        _ state: inout KeyRingState,
        _ body: (inout Keyset) throws(SecurityError) -> Void
    ) throws(SecurityError) {
        guard let follower else {
            var next = state.keyset
            try body(&next)
            try save(next)
            return state.take(next)
        }
        let known = state.keyset
        let next = try follower.change { keyset throws(SecurityError) in
            guard keyset.key(known.primaryID) != nil else {
                throw SecurityError(
                    .keyStoreFailed,
                    "the file contains a different keyset, without key \(known.primaryID)"
                )
            }
            keyset.adoptUsage(of: known)
            try body(&keyset)
        }
        state.take(next)
    }

    private func save(_ keyset: Keyset) throws(SecurityError) {
        do {
            try configuration.save?(keyset)
        } catch {
            throw SecurityError(.keyStoreFailed, "the keyset could not be saved", cause: error)
        }
    }
}

/// Encryption at rest for storage, caches and journals: pass the ring as `sealing` in their configuration.
///
/// The context is the associated data. Fingerprints do not change with rotations.
extension KeyRing: ByteSealing {
    public func seal(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8] {
        [UInt8](try encrypt(plain, associatedData: context))
    }

    public func open(_ sealed: [UInt8], context: [UInt8]) throws -> [UInt8] {
        [UInt8](try decrypt(Data(sealed), associatedData: context))
    }

    public func reseal(_ sealed: [UInt8], context: [UInt8]) throws -> [UInt8]? {
        var report = ReencryptionReport()
        let new = try reencrypt(Data(sealed), associatedData: context, report: &report)
        return new.map { [UInt8]($0) }
    }

    /// Returns whether the bytes begin with the prefix of a destroyed key.
    ///
    /// A disabled key can be enabled again, and an unknown one may be in a keyset that the ring has not read yet.
    public func isLost(_ sealed: [UInt8]) -> Bool {
        keyset.keys.contains { key in
            let prefix = key.prefixBytes
            return key.status == .destroyed && !prefix.isEmpty && sealed.starts(with: prefix)
        }
    }

    public func fingerprint(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8] {
        var code = HMAC<SHA256>(key: fingerprintKey)
        // The length prefix keeps the boundary between context and value unambiguous.
        withUnsafeBytes(of: UInt64(context.count).littleEndian) { code.update(data: $0) }
        code.update(data: context)
        code.update(data: plain)
        return [UInt8](code.finalize())
    }
}

/// The progress of moving data from older keys to the primary key.
public struct ReencryptionReport: Hashable, Sendable {
    /// The number of items that the primary key had already encrypted.
    public internal(set) var current = 0
    /// The number of reencrypted items, by the id of their former key.
    public internal(set) var moved: [UInt32: Int] = [:]
    /// The number of items that no enabled key decrypts; they are left unchanged.
    public internal(set) var unreadable = 0

    /// Creates an empty report.
    public init() {}
}

extension KeyRing {
    /// Encrypts data with the primary key if it was encrypted with another one.
    ///
    /// After a rotation, replace each item with the result. When a whole pass has moved nothing and found nothing
    /// unreadable, the older keys can be disabled.
    ///
    /// - Parameters:
    ///   - data: The result of ``encrypt(_:associatedData:)``.
    ///   - associatedData: The associated data passed to that call.
    ///   - report: The report that counts the item.
    /// - Returns: The new ciphertext, or nil if the item is current.
    /// - Throws: `decryptionFailed` for an item that no enabled key decrypts, which is counted too, and the errors of
    ///   ``encrypt(_:associatedData:)``.
    public func reencrypt(
        _ data: Data,
        associatedData: some DataProtocol,
        report: inout ReencryptionReport
    ) throws(SecurityError) -> Data? {
        let old: (plain: Data, keyID: UInt32)
        do {
            old = try opened(data, associatedData)
        } catch {
            report.unreadable += 1
            throw error
        }
        guard old.keyID != keyset.primaryID else {
            report.current += 1
            return nil
        }
        let new = try encrypt(old.plain, associatedData: associatedData)
        report.moved[old.keyID, default: 0] += 1
        return new
    }
}
#endif
