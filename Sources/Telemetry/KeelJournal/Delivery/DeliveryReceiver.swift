/// A receiver of a journal's records, which decodes and sends; ``DeliveryLane`` stores, retries, splits, waits and
/// counts.
package protocol DeliveryReceiver: Sendable {
    associatedtype Item: Sendable

    /// The maximum number of items per batch, and of their sizes. A first item may be larger.
    var limits: (records: Int, bytes: Int) { get }

    /// Whether a batch with an unknown outcome is sent again.
    ///
    /// Otherwise its records count as rejected with the reason `unconfirmed`, also after a crash.
    var repeatsUnknown: Bool { get }

    /// Decides on a record that was read from the journal.
    func sort(_ record: JournalRecord) -> DeliveryDecision<Item>

    /// Decides again on an item that waits, before each batch; nil still sends it.
    func review(_ item: Item) -> DeliveryDecision<Item>?

    /// Sends one or more items, which are in no other batch at the same time.
    ///
    /// The journal's bounds have removed `lost` records so far.
    func send(_ batch: [Item], lost: Int) async -> DeliveryReply

    /// How many of the lost records it has reported, which is stored with the counters; it must not call the lane.
    var reportedLosses: Int { get }

    /// Shows the status after each change. It must not call the lane.
    func show(_ status: DeliveryStatus)
}

extension DeliveryReceiver {
    package var repeatsUnknown: Bool { true }
    package func review(_ item: Item) -> DeliveryDecision<Item>? { nil }
    package var reportedLosses: Int { 0 }
    package func show(_ status: DeliveryStatus) {}
}

package enum DeliveryDecision<Item: Sendable>: Sendable {
    /// Sent.
    case send(Item, size: Int)
    /// Kept in the journal until ``DeliveryLane/reconsider()``.
    case hold
    /// Counted, not sent.
    case settle(DeliveryFate)
}

/// The final outcome of a record.
package enum DeliveryFate: Sendable, Hashable {
    case delivered
    case purged
    /// The record can never arrive, for a reason with a stable name.
    case rejected(String)
}

package enum DeliveryReply: Sendable {
    /// The items at these indices are rejected, for these reasons; all others have arrived.
    case settled(rejected: [Int: String])
    /// The batch was refused as a whole; it is sent again in halves until the bad item is alone.
    case refused(reason: String, detail: String, isTooLarge: Bool)
    /// Nothing was sent: a request fits only this many items from the first.
    case unsent(fitting: Int)
    /// Nothing has arrived, and a retry may succeed; `notBefore` is the delay the receiver wants, which
    /// is respected up to an hour.
    case postponed(DeliveryFailure, notBefore: Duration?)
    /// The batch may have arrived.
    case unknown(DeliveryFailure)
    /// The receiver accepts nothing until its configuration is corrected.
    case misconfigured(DeliveryFailure)
    /// Some items must no longer be sent; the next batch omits them.
    case withdrawn
}

/// The reason why a delivery failed, without contents of records.
package struct DeliveryFailure: Sendable, Hashable {
    package var text: String
    /// The HTTP status, if there was a response.
    package var status: Int?

    package init(_ text: String, status: Int? = nil) {
        self.text = text
        self.status = status
    }
}

/// The counters and the activity of a lane.
package struct DeliveryStatus: Sendable {
    package enum Activity: Sendable, Hashable {
        case idle, delivering, waiting, misconfigured
    }

    package internal(set) var note: DeliveryNote
    /// The records lost to the journal's bounds and to damage, as last counted.
    package internal(set) var losses: ConsumerCounts
    /// The number of records for the receiver when the lane was opened; nil until counted.
    package internal(set) var base: Int?
    /// The number of records with a final outcome at that time.
    package let firstSum: Int
    /// The number of records appended since.
    package internal(set) var appended = 0
    package internal(set) var activity = Activity.idle
    package internal(set) var failures = 0
    package internal(set) var failure: DeliveryFailure?

    init(_ note: DeliveryNote, _ losses: ConsumerCounts) {
        self.note = note
        self.losses = losses
        firstSum = note.sum
    }
}
