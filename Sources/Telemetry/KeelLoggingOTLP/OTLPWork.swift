#if Logging

internal import KeelJournal

/// A record of a batch; a record that reports lost records has no position in the journal.
struct OTLPBatchItem: Sendable {
    let position: JournalPosition?
    let stored: StoredLogRecord
}

/// The records read from the journal and not yet settled.
///
/// A record that is refused alone is a suspect, as the collector may be refusing everything. It is
/// sent once more after the collector has accepted another record, and given up if refused again.
struct OTLPWork: Sendable {
    /// The initial and the largest number of suspects that counts as refusing everything.
    static let suspectLimits = 8...128
    private static let fullTrust = 8

    /// The parts to send, last one first.
    private var parts: [ArraySlice<OTLPBatchItem>] = []
    /// Records refused alone since the collector last accepted one.
    private(set) var suspects: [OTLPBatchItem] = []
    /// How many records may still be given up, based on the last accepted part.
    private var trust = 0
    /// Whether the parts were refused before.
    private var isContested = false

    var isEmpty: Bool { parts.isEmpty }

    /// Whether a suspect is the record that reports lost ones.
    var holdsGap: Bool { suspects.contains { $0.position == nil } }

    mutating func add(_ batch: [OTLPBatchItem]) {
        parts = [batch[...]]
        isContested = false
    }

    mutating func next() -> ArraySlice<OTLPBatchItem>? { parts.popLast() }

    /// Notes that a part was accepted; suspects are next.
    mutating func take() {
        trust = Self.fullTrust
        guard !suspects.isEmpty else { return }
        parts += suspects.reversed().map { [$0][...] }
        isContested = true
        suspects = []
    }

    /// Notes that a part was refused.
    ///
    /// - Returns: Whether it is a single record that is given up.
    mutating func refuse(_ part: ArraySlice<OTLPBatchItem>) -> Bool {
        if part.count > 1 {
            let middle = part.startIndex + part.count / 2
            parts += [part[middle...], part[..<middle]]
            isContested = true
            trust = 0
            return false
        }
        if isContested, trust > 0 {
            trust -= 1
            return true
        }
        suspects += part
        return false
    }
}

#endif
