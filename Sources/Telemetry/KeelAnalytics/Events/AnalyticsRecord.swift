#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A tracked event, as stored in the journal and passed to destinations.
///
/// A record is self-contained: delivered a week later, it still describes the moment of tracking.
public struct AnalyticsRecord: Sendable, Hashable, Identifiable {
    /// The kind of record.
    public enum Kind: Sendable, Hashable {
        /// An event with this name.
        case event(String)
        /// A view of the screen with this name.
        case screen(String)
        /// The user was identified as ``AnalyticsRecord/userID``, with the ``AnalyticsRecord/anonymousID`` used before.
        case identify
        /// Properties of the user changed, to ``AnalyticsRecord/userProperties``.
        case userProperties
    }

    /// A period of use, which ends with a longer pause.
    public struct Session: Sendable, Hashable {
        /// A UUID of version 7, in lowercase.
        public var id: String
        /// The start of the session.
        public var start: Date

        /// Creates a session.
        public init(id: String, start: Date) {
            self.id = id
            self.start = start
        }
    }

    /// A UUID of version 7 (RFC 9562), in lowercase.
    ///
    /// It is the same in every attempt at every destination, so that a vendor can deduplicate.
    public var id: String
    /// The kind of record.
    public var kind: Kind
    /// The time, to the millisecond.
    public var time: Date
    /// The user, once identified.
    public var userID: String?
    /// A UUID for the user, stable until ``AnalyticsService/reset()``.
    public var anonymousID: String
    /// The session; nil if sessions are turned off.
    public var session: Session?
    /// The properties of the event or screen, and the super properties.
    public var properties: [String: AnalyticsValue]
    /// The changed properties of the user; in events and screens, the known ones if
    /// ``AnalyticsConfiguration/attachesUserProperties`` is set.
    public var userProperties: [String: AnalyticsValue]
    /// The app, system and locale.
    public var context: AnalyticsContext
    /// The purpose that the user must have consented to before the record is sent.
    public var purpose: ConsentPurpose

    /// Creates a record.
    public init(
        id: String,
        kind: Kind,
        time: Date,
        userID: String? = nil,
        anonymousID: String,
        session: Session? = nil,
        properties: [String: AnalyticsValue] = [:],
        userProperties: [String: AnalyticsValue] = [:],
        context: AnalyticsContext = AnalyticsContext(),
        purpose: ConsentPurpose = .analytics
    ) {
        self.id = id
        self.kind = kind
        self.time = time
        self.userID = userID
        self.anonymousID = anonymousID
        self.session = session
        self.properties = properties
        self.userProperties = userProperties
        self.context = context
        self.purpose = purpose
    }
}
