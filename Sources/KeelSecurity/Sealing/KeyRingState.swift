#if Crypto
internal import Crypto

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A ring's view of its keyset, with the messages it may encrypt before it reads the file again.
struct KeyRingState {
    /// How many messages the first reservation is for; the later ones double.
    ///
    /// Reserved messages that a process never encrypts still count towards the key's limit. With
    /// this few, a program that runs each minute to encrypt one message uses a key for centuries.
    private static let firstReservation: UInt64 = 16

    private(set) var keyset: Keyset
    /// The enabled keys, at hand for each message.
    ///
    /// Those without a prefix come last, and have to be tried. A prefix is only a hint: bytes of a
    /// key without one may begin in the same way.
    private(set) var keys: [SealingKey]
    private(set) var primary: SealingKey?
    private(set) var fingerprint: SymmetricKey
    /// Whether time changes anything.
    private(set) var hasDates: Bool
    /// How many messages are reserved for the primary key, and not used.
    private(set) var left: UInt64 = 0
    /// Whether the file of the keyset has to be read before anything is encrypted.
    private(set) var isInDoubt = false
    private var reservation: UInt64

    init(_ keyset: Keyset, reservation: UInt64) {
        self.keyset = keyset
        self.reservation = max(1, min(Self.firstReservation, reservation))
        keys = []
        fingerprint = keyset.fingerprintKey
        hasDates = false
        use(keyset)
    }

    /// Uses another state of the keyset; what is reserved stays good for the same primary key.
    mutating func take(_ next: Keyset) {
        var next = next
        if next.primaryID != keyset.primaryID { left = 0 }
        isInDoubt = false
        next.adoptUsage(of: keyset)
        use(next)
    }

    private mutating func use(_ next: Keyset) {
        keyset = next
        let all = next.keys.compactMap { SealingKey($0) }
        primary = all.first { $0.id == next.primaryID }
        keys = all.filter { $0.prefix != .raw } + all.filter { $0.prefix == .raw }
        fingerprint = next.fingerprintKey
        hasDates = next.keys.contains { key in
            key.dates.notBefore ?? key.dates.expires ?? key.dates.destroyAfter != nil
        }
    }

    /// Whether the dates ask for a change.
    func isDue(at now: Date, destroying: Bool) -> Bool {
        guard hasDates else { return false }
        var next = keyset
        return next.advance(to: now, destroying: destroying)
    }

    /// How many messages to reserve next.
    func wish(upTo most: UInt64) -> UInt64 { max(1, min(reservation, most)) }

    /// Notes a reservation; the next one is for twice as many.
    mutating func reserved(_ count: UInt64) {
        left = count
        let (double, isTooLarge) = reservation.multipliedReportingOverflow(by: 2)
        reservation = isTooLarge ? reservation : double
    }

    mutating func useOne() { left -= 1 }

    /// Gives up what is reserved: nothing is encrypted before the file was read.
    mutating func doubt() {
        left = 0
        isInDoubt = true
    }
}

extension Keyset {
    /// Raises the counts of the keys to what another state of the keyset knows of.
    mutating func adoptUsage(of other: Keyset) {
        for index in keys.indices {
            guard let known = other.key(keys[index].id) else { continue }
            keys[index].usage = max(keys[index].usage, known.usage)
        }
    }
}
#endif
