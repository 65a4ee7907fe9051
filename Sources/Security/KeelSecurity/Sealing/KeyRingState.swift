#if Crypto
internal import Crypto
internal import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A ring's view of its keyset, with the number of messages it may encrypt before it must reserve more.
struct KeyRingState {
    /// The number of messages in the first reservation; each later one doubles.
    ///
    /// Reserved messages count towards the key's limit even if they are never encrypted.
    private static let firstReservation: UInt64 = 16

    private(set) var keyset: Keyset
    /// The enabled keys, prepared for each message.
    ///
    /// Keys without a prefix come last and have to be tried. A prefix is only a hint: the output of a key without a
    /// prefix may begin with the same bytes.
    private(set) var keys: [SealingKey]
    private(set) var primary: SealingKey?
    private(set) var fingerprint: SymmetricKey
    /// Whether any key has a date that can cause a change.
    private(set) var hasDates: Bool
    /// The number of messages reserved for the primary key and not yet used.
    private(set) var remaining: UInt64 = 0
    /// Whether the keyset's file must be read before the next encryption.
    private(set) var isInDoubt = false
    private var reservation: UInt64
    private var lastLook: Date?
    /// The times that the clock has shown to a ring without a file.
    private var time: CertainTime?

    init(_ keyset: Keyset, reservation: UInt64) {
        self.keyset = keyset
        self.reservation = max(1, min(Self.firstReservation, reservation))
        keys = []
        fingerprint = keyset.fingerprintKey
        hasDates = false
        use(keyset)
    }

    /// Adopts another state of the keyset, keeping the reservation if the primary key is the same.
    mutating func take(_ next: Keyset) {
        var next = next
        if next.primaryID != keyset.primaryID { remaining = 0 }
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

    /// Whether the dates of the keys require a change other than destruction.
    func isDue(at now: Date) -> Bool {
        guard hasDates else { return false }
        var next = keyset
        return next.advance(to: now)
    }

    /// Whether to look for keys to destroy now: at first, every ten minutes, and after the clock has gone back.
    mutating func looksForDestruction(at now: Date) -> Bool {
        let existing = keyset.keys.filter { $0.status != .destroyed }
        guard existing.contains(where: { $0.dates.destroyAfter != nil }) else { return false }
        if let lastLook, now >= lastLook, now.timeIntervalSince(lastLook) < 600 { return false }
        lastLook = now
        return true
    }

    /// Notes what the clock shows, and returns a time that has surely been reached; nil while none is certain.
    mutating func certainTime(at now: Date) -> Date? {
        let shown = Int64(now.timeIntervalSince1970 * 1_000_000)
        var next = time ?? CertainTime(shownAt: shown)
        next.note(shown, pause: CertainTime.longestPause)
        time = next
        return next.certain.map { Date(timeIntervalSince1970: Double($0) / 1_000_000) }
    }

    func nextReservation(upTo most: UInt64) -> UInt64 { max(1, min(reservation, most)) }

    /// Records a reservation; the next one is for twice as many messages.
    mutating func reserved(_ count: UInt64) {
        remaining = count
        let (double, isTooLarge) = reservation.multipliedReportingOverflow(by: 2)
        reservation = isTooLarge ? reservation : double
    }

    mutating func useOne() { remaining -= 1 }

    /// Gives up the reservation, so that nothing is encrypted before the file is read.
    mutating func invalidateReservation() {
        remaining = 0
        isInDoubt = true
    }
}

extension Keyset {
    /// Raises each key's count to that of the same key in another state of the keyset.
    mutating func adoptUsage(of other: Keyset) {
        for index in keys.indices {
            guard let known = other.key(keys[index].id) else { continue }
            keys[index].usage = max(keys[index].usage, known.usage)
        }
    }
}
#endif
