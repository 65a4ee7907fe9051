#if Logging

internal import KeelJournal

/// A record of a batch; one that tells of lost records has no place in the journal.
struct OTLPBatchItem: Sendable {
    let position: JournalPosition?
    let stored: StoredLogRecord
}

/// The records that were read from the journal and are not settled yet.
///
/// A record that is refused alone is a suspect: nobody knows whether the collector refuses the record
/// or everything. It is sent once more after the collector has taken another one, and given up if it
/// is refused again.
struct OTLPWork: Sendable {
    /// After how many suspects the collector counts as refusing everything: at first, and at most.
    static let suspectLimits = 8...128
    private static let fullTrust = 8

    /// The groups of records to send; the last one is next.
    private var parts: [ArraySlice<OTLPBatchItem>] = []
    /// Records that were refused alone, while the collector has taken none since.
    private(set) var suspects: [OTLPBatchItem] = []
    /// How many records may still be given up on the strength of what was taken last.
    private var trust = 0
    /// Whether what is to be sent was refused before.
    private var isContested = false

    var isEmpty: Bool { parts.isEmpty }

    /// Whether the record that tells of lost ones is in here.
    var holdsGap: Bool { suspects.contains { $0.position == nil } }

    mutating func add(_ batch: [OTLPBatchItem]) {
        parts = [batch[...]]
        isContested = false
    }

    mutating func next() -> ArraySlice<OTLPBatchItem>? { parts.popLast() }

    /// Notes that a part was taken; suspects are next.
    mutating func take() {
        trust = Self.fullTrust
        guard !suspects.isEmpty else { return }
        parts += suspects.reversed().map { [$0][...] }
        isContested = true
        suspects = []
    }

    /// Notes that a part was refused.
    ///
    /// - Returns: Whether it is one record that is given up.
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
