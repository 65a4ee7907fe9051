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
/// kept is lost. The count is kept in the keyset, ahead of what happened: after a crash it is too
/// high, never too low. It holds for one process: several that share a keyset need limits that
/// together stay under 2³².
public final class KeyRing: Sendable {
    /// How a ring counts and saves.
    public struct Configuration: Sendable {
        /// After how many messages a key is replaced.
        ///
        /// With random nonces of 96 bits a key may encrypt 2³² messages (NIST SP 800-38D); the
        /// usual value is half of that.
        public var limit: UInt64 = 1 << 31
        /// How many messages are counted ahead with each saving.
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

    /// The enabled keys.
    ///
    /// Those without a prefix come last, and have to be tried. A prefix is only a hint: bytes of a
    /// key without one may begin in the same way.
    private struct Work {
        let primary: SealingKey?
        let all: [SealingKey]

        init(_ keyset: Keyset) {
            let keys = keyset.keys.compactMap { SealingKey($0) }
            primary = keys.first { $0.id == keyset.primaryID }
            all = keys.filter { $0.prefix != .raw } + keys.filter { $0.prefix == .raw }
        }
    }

    private struct State {
        var keyset: Keyset {
            didSet { work = Work(keyset) }
        }
        /// The keys of the keyset, at hand for each message.
        private(set) var work: Work
        /// How many messages the primary key has encrypted at most.
        var used: UInt64
        /// Up to which count the keyset that was saved accounts for.
        var reserved: UInt64
        var fingerprint: SymmetricKey
        /// Whether time changes anything.
        let hasDates: Bool

        init(_ keyset: Keyset) {
            self.keyset = keyset
            work = Work(keyset)
            used = keyset.primary.usage
            reserved = used
            fingerprint = keyset.fingerprintKey
            hasDates = keyset.keys.contains { key in
                key.dates.notBefore ?? key.dates.expires ?? key.dates.destroyAfter != nil
            }
        }
    }

    private let configuration: Configuration
    private let state: Mutex<State>

    /// Begins to use a keyset.
    ///
    /// - Parameters:
    ///   - keyset: The keys.
    ///   - configuration: How to count and save.
    public init(_ keyset: Keyset, configuration: Configuration = Configuration()) {
        self.configuration = configuration
        state = Mutex(State(keyset))
    }

    /// The keyset as it is now.
    public var keyset: Keyset { state.withLock(\.keyset) }

    /// Uses another keyset from now on, one that was rotated for example.
    ///
    /// - Parameter keyset: The keyset; what it lacks cannot be decrypted any more.
    public func replace(with keyset: Keyset) {
        state.withLock { $0 = State(keyset) }
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
        for key in state.withLock({ $0.work.all }) {
            if let plain = key.open(data, start, associatedData) { return (plain, key.id) }
        }
        throw SecurityError(
            .decryptionFailed,
            "the data is damaged, belongs to another place, or needs a key that is not enabled"
        )
    }

    var fingerprintKey: SymmetricKey { state.withLock(\.fingerprint) }

    /// The primary key, after one more message was counted for it.
    private func nextKey() throws(SecurityError) -> SealingKey {
        try state.withLock { state throws(SecurityError) in
            try applyDates(&state)
            try countOne(&state)
            guard let primary = state.work.primary else {
                throw SecurityError(.keyNotFound, "the primary key is not enabled")
            }
            return primary
        }
    }

    private func applyDates(_ state: inout State) throws(SecurityError) {
        guard state.hasDates else { return }
        let now = configuration.now()
        var next = state.keyset
        // What nobody keeps must not be given up: it would be back with the next program.
        if next.advance(to: now, destroying: configuration.save != nil) {
            try install(next, &state)
        }
        guard state.keyset.primary.dates.permitEncryption(at: now) else {
            throw SecurityError(.keyNotFound, "the dates of the keys let none of them encrypt now")
        }
    }

    private func countOne(_ state: inout State) throws(SecurityError) {
        if state.used >= configuration.limit {
            guard configuration.save != nil else {
                throw SecurityError(
                    .usageLimitReached,
                    "key \(state.keyset.primaryID) has encrypted as much as it may"
                )
            }
            var next = state.keyset
            try next.rotate(at: configuration.now())
            try install(next, &state)
        }
        if state.used >= state.reserved {
            let (sum, isTooLarge) = state.used.addingReportingOverflow(configuration.reservation)
            let ahead = max(state.used + 1, isTooLarge ? 0 : min(sum, configuration.limit))
            var next = state.keyset
            next.keys[try next.index(of: next.primaryID)].usage = ahead
            try save(next)
            state.keyset = next
            state.reserved = ahead
        }
        state.used += 1
    }

    private func install(_ keyset: Keyset, _ state: inout State) throws(SecurityError) {
        try save(keyset)
        state = State(keyset)
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
