#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One thing that happened, as it is kept in the journal and handed to destinations.
///
/// Everything a destination needs is in it: a record that waited for a week says what was true when
/// it was tracked.
public struct AnalyticsRecord: Sendable, Hashable, Identifiable {
    /// What happened.
    public enum Kind: Sendable, Hashable {
        /// An event of this name.
        case event(String)
        /// A screen of this name was shown.
        case screen(String)
        /// The user became known: ``AnalyticsRecord/userID`` is set, and
        /// ``AnalyticsRecord/anonymousID`` is who the user was before.
        case identify
        /// Properties of the user changed: ``AnalyticsRecord/userProperties`` holds them.
        case userProperties
    }

    /// A stretch of use, from the first event to a longer pause.
    public struct Session: Sendable, Hashable {
        /// A UUID of version 7, in small letters.
        public var id: String
        /// When it began.
        public var start: Date

        /// Creates a session.
        public init(id: String, start: Date) {
            self.id = id
            self.start = start
        }
    }

    /// A UUID of version 7 (RFC 9562), in small letters: the same in every try at every destination,
    /// so that a vendor can tell a repetition from a new event.
    public var id: String
    /// What happened.
    public var kind: Kind
    /// When, to the millisecond.
    public var time: Date
    /// The user, once known.
    public var userID: String?
    /// Who the user is as long as nobody knows: a UUID that stays until ``AnalyticsService/reset()``.
    public var anonymousID: String
    /// The session, unless sessions are switched off.
    public var session: Session?
    /// The properties of the event or screen, with the super properties of the time.
    public var properties: [String: AnalyticsValue]
    /// What changed about the user; in events and screens what is known about the user, if
    /// ``AnalyticsConfiguration/attachesUserProperties`` is set.
    public var userProperties: [String: AnalyticsValue]
    /// The app, the system and the language.
    public var context: AnalyticsContext
    /// What the user must have consented to before it may leave; see ``ConsentPurpose``.
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
