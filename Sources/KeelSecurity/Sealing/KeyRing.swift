#if Crypto
internal import Crypto
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A keyset in use: encrypts, decrypts, counts, and rotates before a key was used too often.
///
/// Several tasks may use one ring. A ring that can save its keyset does what the keys' dates ask
/// for, and adds a new primary key when the present one has encrypted ``Configuration/limit``
/// messages. A ring that cannot save refuses to encrypt then: data encrypted with a key that nobody
/// kept is lost.
///
/// The count is kept in the keyset, ahead of what happened: after a crash it is too high, never too
/// low. The rings of one ``KeysetFile`` count together, in any number of processes. A ring without a
/// file counts what it encrypts itself, from where its keyset stands: keep ``keyset`` when the limit
/// is to hold beyond the process.
public final class KeyRing: Sendable {
    /// How a ring counts and saves.
    public struct Configuration: Sendable {
        /// After how many messages a key is replaced.
        ///
        /// With random nonces of 96 bits a key may encrypt 2³² messages (NIST SP 800-38D); the
        /// usual value is half of that.
        public var limit: UInt64 = 1 << 31
        /// How many messages are counted ahead with each saving, at most.
        ///
        /// The first saving is for 16 and each next one for twice as many, so that a program that
        /// encrypts little does not use up the limit.
        public var reservation: UInt64 = 1 << 20
        /// Keeps the keyset; nil if the ring is to add and destroy no keys.
        ///
        /// Dates are looked at when something is encrypted; which key encrypts then follows them
        /// in any case.
        ///
        /// It is called while others wait to encrypt, must have stored the keyset when it returns,
        /// and must not call the ring.
        public var save: (@Sendable (Keyset) throws -> Void)?
        /// The clock.
        public var now: @Sendable () -> Date = { Date.now }

        /// The usual values.
        public init() {}
    }

    private let configuration: Configuration
    private let follower: KeysetFollower?
    private let state: Mutex<KeyRingState>

    /// Begins to use a keyset.
    ///
    /// - Parameters:
    ///   - keyset: The keys.
    ///   - configuration: How to count and save.
    public convenience init(_ keyset: Keyset, configuration: Configuration = Configuration()) {
        self.init(keyset, configuration: configuration, following: nil)
    }

    init(_ keyset: Keyset, configuration: Configuration, following follower: KeysetFollower?) {
        self.configuration = configuration
        self.follower = follower
        state = Mutex(KeyRingState(keyset, reservation: configuration.reservation))
    }

    /// The keyset as it is now, with what others have written to its file.
    public var keyset: Keyset { current(\.keyset) }

    /// Uses another keyset from now on, one that was rotated for example.
    ///
    /// Where both have a key, the higher count holds. The ring of a ``KeysetFile`` follows its file,
    /// so change that instead; call this with what ``KeysetFile/load()`` returns to accept a file
    /// that another keyset was put into.
    ///
    /// - Parameter keyset: The keyset; what it lacks cannot be decrypted any more.
    public func replace(with keyset: Keyset) {
        state.withLock { $0.take(keyset) }
    }

    /// Asks the sources of the ring's ``KeysetFile`` for their keys again, and reads the file.
    ///
    /// Needed when the file was encrypted under a key-encryption key that its sources did not have
    /// when the ring began. Without a file it does nothing.
    ///
    /// - Throws: What ``KeysetFile/load()`` throws; the ring is then as it was.
    public func refresh() async throws(SecurityError) {
        guard let follower else { return }
        try await follower.refresh()
        let keyset = try follower.read()
        state.withLock { state in
            if keyset.key(state.keyset.primaryID) != nil { state.take(keyset) }
        }
    }

    /// Encrypts data with the primary key, and authenticates it.
    ///
    /// - Parameters:
    ///   - data: What to encrypt.
    ///   - associatedData: What the result belongs to; decryption needs the same bytes.
    /// - Returns: `prefix ‖ nonce ‖ ciphertext ‖ tag`.
    /// - Throws: `keyNotFound`, `usageLimitReached`, `keyStoreFailed` or `encryptionFailed`.
    public func encrypt(
        _ data: some DataProtocol,
        associatedData: some DataProtocol
    ) throws(SecurityError) -> Data {
        try nextKey().seal(data, associatedData)
    }

    /// Decrypts what was encrypted with any enabled key.
    ///
    /// - Parameters:
    ///   - data: What ``encrypt(_:associatedData:)`` returned.
    ///   - associatedData: The bytes that were given then.
    /// - Returns: What was encrypted.
    /// - Throws: `decryptionFailed` for anything else.
    public func decrypt(
        _ data: Data,
        associatedData: some DataProtocol
    ) throws(SecurityError) -> Data {
        try opened(data, associatedData).plain
    }

    /// What was encrypted, and the id of the key that it was encrypted with.
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
            "the data is damaged, belongs to another place, or needs a key that is not enabled"
        )
    }

    var fingerprintKey: SymmetricKey { state.withLock(\.fingerprint) }

    // MARK: The key that encrypts

    /// The primary key, after one more message was counted for it.
    private func nextKey() throws(SecurityError) -> SealingKey {
        let isStale = follower?.isCurrent == false
        return try state.withLock { state throws(SecurityError) in
            if isStale { follow(&state) }
            try doWhatIsDue(&state)
            if state.left == 0 { try reserve(&state) }
            guard let primary = state.primary else {
                throw SecurityError(.keyNotFound, "the primary key is not enabled")
            }
            state.useOne()
            return primary
        }
    }

    /// The primary key, for what needs no count: streams, and public keys.
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
        if state.isDue(at: now, destroying: keeps) {
            // What nobody keeps must not be given up: it would be back with the next program.
            let keeps = keeps
            try change(&state) { keyset in _ = keyset.advance(to: now, destroying: keeps) }
        }
        guard state.keyset.primary.dates.permitEncryption(at: now) else {
            throw SecurityError(.keyNotFound, "the dates of the keys let none of them encrypt now")
        }
    }

    /// Counts messages ahead, and rotates where the key has encrypted as much as it may.
    private func reserve(_ state: inout KeyRingState) throws(SecurityError) {
        let wish = state.wish(upTo: configuration.reservation)
        var count: UInt64 = 0
        try change(&state) { keyset throws(SecurityError) in
            // The file may have been written since it was looked at.
            _ = keyset.advance(to: configuration.now(), destroying: keeps)
            if keyset.primary.usage >= configuration.limit {
                guard keeps else {
                    throw SecurityError(
                        .usageLimitReached,
                        "key \(keyset.primaryID) has encrypted as much as it may"
                    )
                }
                try keyset.rotate(at: configuration.now())
            }
            let index = try keyset.index(of: keyset.primaryID)
            let used = keyset.keys[index].usage
            count = max(1, min(wish, configuration.limit - min(used, configuration.limit)))
            keyset.keys[index].usage = used + count
        }
        state.reserved(count)
    }

    // MARK: The place where the keyset is kept

    /// Whether somebody keeps the changes of this ring.
    private var keeps: Bool { follower != nil || configuration.save != nil }

    /// A part of the state, after a look at the file.
    private func current<Value>(_ part: (KeyRingState) -> Value) -> Value {
        let isStale = follower?.isCurrent == false
        return state.withLock { state in
            if isStale { follow(&state) }
            return part(state)
        }
    }

    /// Takes over what others have written; where that is not possible, the next reservation says
    /// why.
    private func follow(_ state: inout KeyRingState) {
        guard let follower, !follower.isCurrent else { return }
        let primary = state.keyset.primaryID
        do throws(SecurityError) {
            let found = try follower.read()
            if found.key(primary) == nil { state.doubt() } else { state.take(found) }
        } catch {
            let isGivenUp = follower.status(of: primary) != .enabled
            if error.code == .keyNotFound || error.code == .decryptionFailed && isGivenUp {
                state.doubt()
            }
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
                    "the file holds another keyset, without key \(known.primaryID)"
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
            throw SecurityError(.keyStoreFailed, "the keyset was not saved", cause: error)
        }
    }
}
#endif
