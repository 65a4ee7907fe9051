internal import KeelJournal

extension AnalyticsService {
    // MARK: Events and screens

    /// Tracks an event and returns its id; nil if it was refused.
    ///
    /// Refused events are counted in ``AnalyticsStatus/refused``. To get the error, use
    /// ``record(_:)-(AnalyticsEvent)``.
    @discardableResult
    public func trackEvent(_ event: AnalyticsEvent) -> AnalyticsRecord.ID? {
        try? tracker.track(TrackedDraft(event)).text
    }

    /// Tracks an event and returns its id; nil if it was refused.
    @discardableResult
    public func trackEvent(
        _ name: String,
        parameters: [String: AnalyticsValue] = [:]
    ) -> AnalyticsRecord.ID? {
        trackEvent(AnalyticsEvent(name: name, parameters: parameters))
    }

    /// Tracks an event whose parameters are the properties of a type.
    ///
    /// - Parameter event: The event, which must encode as an object.
    /// - Returns: The event's id; nil if it was refused.
    @discardableResult
    public func trackEvent<Event: TypedAnalyticsEvent>(_ event: Event) -> AnalyticsRecord.ID? {
        guard case .object(let parameters) = try? AnalyticsValue(encoding: event) else {
            tracker.refuse(.invalidArgument)
            return nil
        }
        return trackEvent(
            AnalyticsEvent(name: Event.name, parameters: parameters, purpose: Event.purpose)
        )
    }

    /// Tracks a view of a screen and returns the record's id; nil if it was refused.
    @discardableResult
    public func trackScreen(_ screen: AnalyticsScreen) -> AnalyticsRecord.ID? {
        try? tracker.track(TrackedDraft(screen)).text
    }

    /// Tracks a view of a screen and returns the record's id; nil if it was refused.
    @discardableResult
    public func trackScreen(
        _ name: String,
        parameters: [String: AnalyticsValue] = [:]
    ) -> AnalyticsRecord.ID? {
        trackScreen(AnalyticsScreen(name: name, parameters: parameters))
    }

    /// Tracks an event and returns its id.
    ///
    /// - Throws: ``AnalyticsError`` if it is refused: ``AnalyticsError/Code/denied``, ``AnalyticsError/Code/tooLarge``,
    ///   ``AnalyticsError/Code/invalidArgument`` for an empty name, or the reason why the journal could not store it.
    @discardableResult
    public func record(_ event: AnalyticsEvent) throws(AnalyticsError) -> AnalyticsRecord.ID {
        try tracker.track(TrackedDraft(event)).text
    }

    /// Tracks a view of a screen and returns the record's id.
    ///
    /// - Throws: ``AnalyticsError``, as for an event.
    @discardableResult
    public func record(_ screen: AnalyticsScreen) throws(AnalyticsError) -> AnalyticsRecord.ID {
        try tracker.track(TrackedDraft(screen)).text
    }

    // MARK: The user

    /// Tracks the value of a user property, for the purpose ``ConsentPurpose/analytics``.
    ///
    /// - Parameters:
    ///   - property: The property's name.
    ///   - value: Its value, to which the configuration's redactor applies.
    /// - Returns: The record's id; nil if it was refused.
    @discardableResult
    public func trackUserProperty(
        _ property: String,
        value: AnalyticsValue
    ) -> AnalyticsRecord.ID? {
        trackUserProperties([property: value])
    }

    /// Tracks the values of user properties, for the purpose ``ConsentPurpose/analytics``.
    ///
    /// - Returns: The record's id; nil if it was refused.
    @discardableResult
    public func trackUserProperties(
        _ properties: [String: AnalyticsValue]
    ) -> AnalyticsRecord.ID? {
        var draft = TrackedDraft(.userProperties)
        draft.userProperties = properties
        return try? tracker.track(draft).text
    }

    /// Sets the user's id for later events, across launches.
    ///
    /// The change is tracked once, for the purpose ``ConsentPurpose/analytics``, together with the previous anonymous
    /// id, so that destinations can link both. The current id and an empty one have no effect.
    ///
    /// - Important: Call ``reset()`` before setting the id of a second user. Otherwise, both users have the same
    ///   anonymous id, session and super properties, and destinations can merge their profiles. Only the properties
    ///   that ``AnalyticsConfiguration/attachesUserProperties`` keeps are forgotten with the first user.
    ///
    /// The id is sent unchanged, unless a destination's rules hash it. ``AnalyticsStatus/hasPersonalUserID`` reports
    /// whether it looks like personal data, such as an e-mail address or a telephone number.
    ///
    /// - Parameter userID: The app's own id of the user, not an address or a name.
    public func setUserID(_ userID: String) {
        // If the change cannot be stored, it still applies, and the status reports the failure.
        _ = try? tracker.change(tracking: TrackedDraft(.identify)) { settings, _ in
            guard settings.userID != userID, !userID.isEmpty else { return false }
            // Those of an anonymous user may be of this one; those of another user are not.
            if settings.userID != nil { settings.userProperties = [:] }
            settings.userID = userID
            return true
        }
    }

    /// The user's id, as last set.
    public var userID: String? { tracker.settings.userID }

    /// A random id for the user, stable until ``reset()``.
    public var anonymousID: String { tracker.settings.anonymousID }

    /// Forgets the user, for example after a logout.
    ///
    /// Later events have a new anonymous id and session, no user id and no super properties. Timings started with
    /// ``beginTiming(_:)`` are discarded. Pending events and consent do not change.
    public func reset() { try? forgetUser() }

    /// Forgets the user as ``reset()`` does.
    ///
    /// - Throws: ``AnalyticsError``, with ``AnalyticsError/Code/inUse`` while another service stores the user. A change
    ///   that could not be stored applies until the process ends: call again.
    package func forgetUser() throws(AnalyticsError) { try tracker.forgetUser() }

    // MARK: Super properties and timing

    /// Adds properties to all later events and screens, across launches.
    ///
    /// An event's own parameters take precedence.
    ///
    /// - Parameter properties: The values by name, merged into the existing ones.
    public func setSuperProperties(_ properties: [String: AnalyticsValue]) {
        _ = try? tracker.change { settings, writer in
            let merged = settings.superProperties.merging(writer.redacted(properties)) { $1 }
            defer { settings.superProperties = merged }
            return merged != settings.superProperties
        }
    }

    /// Removes a super property.
    public func removeSuperProperty(_ name: String) {
        _ = try? tracker.change { settings, _ in
            settings.superProperties.removeValue(forKey: name) != nil
        }
    }

    /// The properties added to every event and screen.
    public var superProperties: [String: AnalyticsValue] { tracker.settings.superProperties }

    /// Starts measuring a duration, in memory.
    ///
    /// The next event with this name gets the property `duration` in seconds, unless it sets its own.
    ///
    /// - Parameter name: The name of the event that ends the measurement.
    public func beginTiming(_ name: String) { tracker.beginTiming(name) }
}
