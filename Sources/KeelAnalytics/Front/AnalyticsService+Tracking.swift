extension AnalyticsService {
    // MARK: Events and screens

    /// Tracks an event.
    ///
    /// What fails is no trouble to the caller: it is counted in ``AnalyticsStatus/refused``. Use
    /// ``record(_:)-(AnalyticsEvent)`` to learn why.
    ///
    /// - Parameter event: The event.
    /// - Returns: The event's id, nil if it was refused.
    @discardableResult
    public func trackEvent(_ event: AnalyticsEvent) -> AnalyticsRecord.ID? {
        try? tracker.track(TrackedDraft(event)).text
    }

    /// Tracks an event.
    ///
    /// - Parameters:
    ///   - name: What happened.
    ///   - parameters: What there is to say about it.
    /// - Returns: The event's id, nil if it was refused.
    @discardableResult
    public func trackEvent(
        _ name: String,
        parameters: [String: AnalyticsValue] = [:]
    ) -> AnalyticsRecord.ID? {
        var draft = TrackedDraft(.event(name))
        draft.properties = parameters
        return try? tracker.track(draft).text
    }

    /// Tracks an event whose parameters are the properties of a type.
    ///
    /// - Parameter event: The event. One that does not encode as an object is refused.
    /// - Returns: The event's id, nil if it was refused.
    @discardableResult
    public func trackEvent<Event: TypedAnalyticsEvent>(_ event: Event) -> AnalyticsRecord.ID? {
        guard case .object(let parameters) = try? AnalyticsValue(encoding: event) else {
            tracker.refuse(.invalidArgument)
            return nil
        }
        var draft = TrackedDraft(.event(Event.name))
        draft.properties = parameters
        draft.purpose = Event.purpose
        return try? tracker.track(draft).text
    }

    /// Tracks that a screen was shown.
    ///
    /// - Parameter screen: The screen.
    /// - Returns: The id of the record, nil if it was refused.
    @discardableResult
    public func trackScreen(_ screen: AnalyticsScreen) -> AnalyticsRecord.ID? {
        try? tracker.track(TrackedDraft(screen)).text
    }

    /// Tracks that a screen was shown.
    ///
    /// - Parameters:
    ///   - name: The screen's name.
    ///   - parameters: What there is to say about it.
    /// - Returns: The id of the record, nil if it was refused.
    @discardableResult
    public func trackScreen(
        _ name: String,
        parameters: [String: AnalyticsValue] = [:]
    ) -> AnalyticsRecord.ID? {
        var draft = TrackedDraft(.screen(name))
        draft.properties = parameters
        return try? tracker.track(draft).text
    }

    /// Tracks an event, for a caller that wants to know when it was refused.
    ///
    /// - Parameter event: The event.
    /// - Returns: The event's id.
    /// - Throws: ``AnalyticsError``.
    @discardableResult
    public func record(_ event: AnalyticsEvent) throws(AnalyticsError) -> AnalyticsRecord.ID {
        try tracker.track(TrackedDraft(event)).text
    }

    /// Tracks that a screen was shown, for a caller that wants to know when it was refused.
    ///
    /// - Parameter screen: The screen.
    /// - Returns: The id of the record.
    /// - Throws: ``AnalyticsError``.
    @discardableResult
    public func record(_ screen: AnalyticsScreen) throws(AnalyticsError) -> AnalyticsRecord.ID {
        try tracker.track(TrackedDraft(screen)).text
    }

    // MARK: The user

    /// Tracks that a property of the user has a value.
    ///
    /// - Parameters:
    ///   - property: The property's name.
    ///   - value: Its value. The redactor of the configuration looks at it, as at any other.
    /// - Returns: The id of the record, nil if it was refused.
    @discardableResult
    public func trackUserProperty(
        _ property: String,
        value: AnalyticsValue
    ) -> AnalyticsRecord.ID? {
        trackUserProperties([property: value])
    }

    /// Tracks that properties of the user have values.
    ///
    /// - Parameter properties: The values by name.
    /// - Returns: The id of the record, nil if it was refused.
    @discardableResult
    public func trackUserProperties(
        _ properties: [String: AnalyticsValue]
    ) -> AnalyticsRecord.ID? {
        var draft = TrackedDraft(.userProperties)
        draft.userProperties = properties
        guard let id = try? tracker.track(draft).text else { return nil }
        if tracker.configuration.attachesUserProperties {
            // A change that could not be written is in force, and reported by the status.
            _ = try? tracker.change { settings, writer in
                let merged = settings.userProperties.merging(writer.redacted(properties)) { $1 }
                defer { settings.userProperties = merged }
                return merged != settings.userProperties
            }
        }
        return id
    }

    /// Says who the user is, from the next event on and across starts.
    ///
    /// It is tracked once, with the anonymous id of before, so that destinations bring both
    /// together. The id of the user who is known already changes nothing.
    ///
    /// The id is sent unchanged, because it identifies the user.
    /// ``AnalyticsStatus/hasPersonalUserID`` says whether it looks like personal data, such as a mail
    /// address or a telephone number.
    ///
    /// - Parameter userID: The user's id in the app's own terms; not an address or a name.
    public func setUserID(_ userID: String) {
        // A change that could not be written is in force, and reported by the status.
        _ = try? tracker.change(tracking: TrackedDraft(.identify)) { settings, _ in
            guard settings.userID != userID, !userID.isEmpty else { return false }
            settings.userID = userID
            return true
        }
    }

    /// The user's id, as it was last set.
    public var userID: String? { tracker.settings.userID }

    /// Who the user is as long as nobody knows: a random id that stays until ``reset()``.
    public var anonymousID: String { tracker.settings.anonymousID }

    /// Forgets the user, after a logout for example.
    ///
    /// The next event has a new anonymous id, no user, no super properties and a session of its
    /// own; what was begun with ``beginTiming(_:)`` has no end. Events that wait keep what they were
    /// tracked with, and consent stays as it is.
    public func reset() { try? tracker.forgetUser() }

    // MARK: Super properties and timing

    /// Adds properties to every event and screen from the next on, across starts.
    ///
    /// An event's own parameters come before them.
    ///
    /// - Parameter properties: The values by name; they are added to those there are.
    public func setSuperProperties(_ properties: [String: AnalyticsValue]) {
        _ = try? tracker.change { settings, writer in
            let merged = settings.superProperties.merging(writer.redacted(properties)) { $1 }
            defer { settings.superProperties = merged }
            return merged != settings.superProperties
        }
    }

    /// Takes a super property away.
    ///
    /// - Parameter name: The property's name.
    public func removeSuperProperty(_ name: String) {
        _ = try? tracker.change { settings, _ in
            settings.superProperties.removeValue(forKey: name) != nil
        }
    }

    /// The properties that every event gets.
    public var superProperties: [String: AnalyticsValue] { tracker.settings.superProperties }

    /// Begins to measure how long something takes.
    ///
    /// The next event of the name has the property `duration`, in seconds, unless it brings one.
    ///
    /// - Parameter name: The name of the event that will end it.
    public func beginTiming(_ name: String) { tracker.beginTiming(name) }
}
