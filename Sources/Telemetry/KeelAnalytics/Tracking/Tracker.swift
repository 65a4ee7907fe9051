internal import KeelCBOR
internal import KeelCore
internal import KeelJournal
internal import Synchronization

/// Turns tracking calls into journal records.
///
/// One lock orders everything: records tracked after a change of the user, consent or super
/// properties include it, and records tracked before do not.
final class Tracker: Sendable {
    struct State {
        var settings: AnalyticsSettings
        var ids = RecordIDs()
        var random: ClosureGenerator
        var writer: PropertyWriter
        var circumstances: [UInt8] = []
        var timings: [String: Duration] = [:]
        /// The last event of the session as stored, in milliseconds since 1970.
        var writtenLastSeen: Int64 = 0
        /// Whether another service of the folder stores the settings, which are read again when they change.
        var isFollowing = false
        /// Whether the folder has the mark of several services that track into it.
        var isShared = false
        /// The purposes denied here while another service stores the settings.
        var ownDenials: Set<ConsentPurpose> = []
    }

    let journal: Journal
    let consents: ConsentBook
    let board: StateBroadcast<AnalyticsStatus>
    /// Raised to send before the interval is over.
    let hurry = Signal()

    let configuration: AnalyticsConfiguration
    let file: SettingsFile
    private let timeline: Timeline
    private let sessionMilliseconds: Int64?
    let state: Mutex<State>

    init(
        _ settings: AnalyticsSettings,
        in file: SettingsFile,
        journal: Journal,
        board: StateBroadcast<AnalyticsStatus>,
        configuration: AnalyticsConfiguration,
        isFollowing: Bool
    ) {
        self.journal = journal
        self.board = board
        self.configuration = configuration
        self.file = file
        timeline = Timeline(configuration.clock)
        sessionMilliseconds = configuration.sessionTimeout.map { max(1, $0.milliseconds) }
        let fallback = settings.hasLostConsents ? .unknown : configuration.defaultConsent
        consents = ConsentBook(settings.consents, fallback: fallback)
        var state = State(
            settings: settings,
            random: ClosureGenerator(configuration.random),
            writer: PropertyWriter(redactor: configuration.redactor)
        )
        state.writtenLastSeen = settings.session?.lastSeen ?? 0
        state.isFollowing = isFollowing
        state.encodeCircumstances(configuration.context, hasSessions: sessionMilliseconds != nil)
        self.state = Mutex(state)
    }

    /// The number of records accepted since the launch; under the lock, none is being appended.
    var appendedCount: Int { journal.statistics.appended }

    var hasSessions: Bool { sessionMilliseconds != nil }

    var settings: AnalyticsSettings {
        state.withLock { state in
            update(&state)
            return state.settings
        }
    }

    func consent(for purpose: ConsentPurpose) -> AnalyticsConsent {
        state.withLock { update(&$0) }
        return consents[purpose]
    }

    /// Whether services that do not deliver have tracked into the folder.
    var isShared: Bool { file.isShared }

    // MARK: Tracking

    /// Counts a call that failed before ``track(_:)``.
    func refuse(_ code: AnalyticsError.Code) {
        board.change { $0.refused[code.name, default: 0] += 1 }
        configuration.observer?(.refused(code))
    }

    private func tell(_ kind: AnalyticsRecord.Kind) {
        guard let observer = configuration.observer else { return }
        observer(.tracked(state.withLock { $0.writer.redacted(kind) }))
    }

    func track(_ draft: TrackedDraft) throws(AnalyticsError) -> RecordID {
        do throws(AnalyticsError) {
            let id = try state.withLock { state throws(AnalyticsError) in
                try append(draft, &state)
            }
            tell(draft.kind)
            if appendedCount.isMultiple(of: configuration.deliveryThreshold) { hurry.raise() }
            return id
        } catch {
            refuse(error.code)
            throw error
        }
    }

    private func append(
        _ draft: TrackedDraft,
        _ state: inout State
    ) throws(AnalyticsError) -> RecordID {
        update(&state)
        guard consents[draft.purpose] != .denied else {
            throw AnalyticsError(
                .denied,
                "The user has not consented to “\(draft.purpose.rawValue)”"
            )
        }
        var timing: (name: String, value: AnalyticsValue)?
        switch draft.kind {
        case .event(let name):
            guard !name.isEmpty else { throw Self.unnamed }
            if !state.timings.isEmpty, let start = state.timings.removeValue(forKey: name) {
                timing = ("duration", .double((timeline.now - start).seconds))
            }
        case .screen(let name):
            guard !name.isEmpty else { throw Self.unnamed }
        case .identify, .userProperties: break
        }
        let now = configuration.now() / 1000
        goOn(with: &state, at: now)
        let id = state.nextID(at: now)
        var writer = CBORWriter(capacity: 256 + state.circumstances.count)
        RecordCoding.begin(
            &writer,
            id: id,
            kind: state.writer.redacted(draft.kind),
            milliseconds: draft.milliseconds ?? now,
            purpose: draft.purpose,
            circumstances: state.circumstances
        )
        state.writer.write(draft.properties, and: timing, to: &writer)
        state.writer.write(userProperties(draft, &state), to: &writer)
        if state.isFollowing, !state.isShared {
            // Before the record, which the service that delivers does not count itself.
            do throws(FileSystemError) {
                try file.share()
            } catch {
                throw AnalyticsError(error, "Tracking")
            }
            state.isShared = true
        }
        _ = try AnalyticsError.mapped("Tracking") { () throws(JournalError) in
            try journal.append(writer.bytes)
        }
        keepUserProperties(of: draft, &state)
        return id
    }

    /// Lets later records include the user properties that a record sets, if configured.
    ///
    /// Called under the lock of the record: a user who signs out in between would leave them to the next one.
    private func keepUserProperties(of draft: TrackedDraft, _ state: inout State) {
        guard configuration.attachesUserProperties, case .userProperties = draft.kind
        else { return }
        let known = state.settings.userProperties
        let merged = known.merging(state.writer.redacted(draft.userProperties)) { $1 }
        guard merged != known else { return }
        guard !state.isFollowing else {
            _ = refusedChange()
            return
        }
        state.settings.userProperties = merged
        // If they cannot be stored, they still apply, and the status reports the failure.
        try? write(&state, isSynced: false)
    }

    private func userProperties(
        _ draft: TrackedDraft,
        _ state: inout State
    ) -> [String: AnalyticsValue] {
        guard configuration.attachesUserProperties else { return draft.userProperties }
        switch draft.kind {
        case .event, .screen: return state.settings.userProperties
        case .identify, .userProperties: return draft.userProperties
        }
    }

    private static let unnamed = AnalyticsError(
        .invalidArgument,
        "The name of an event or a screen must not be empty"
    )

    func beginTiming(_ name: String) {
        let now = timeline.now
        state.withLock { $0.timings[name] = now }
    }

    // MARK: Sessions

    /// Continues the session, or starts one after a pause.
    private func goOn(with state: inout State, at now: Int64) {
        guard let limit = sessionMilliseconds else { return }
        if !hasEnded(state.settings.session, by: now) {
            state.settings.session?.lastSeen = now
            // Written only now and then, so that a restart within the pause continues the session.
            guard abs(now - state.writtenLastSeen) > limit / 4 else { return }
        } else {
            state.settings.session = AnalyticsSettings.Session(
                id: state.nextID(at: now).text,
                start: now,
                lastSeen: now
            )
            state.encodeCircumstances(configuration.context, hasSessions: true)
        }
        if !state.isFollowing { try? write(&state, isSynced: false) }
    }

    /// Returns whether an event at this time begins a new session.
    ///
    /// A clock that was far ahead and is right again ends the session, as it would never end otherwise.
    func hasEnded(_ session: AnalyticsSettings.Session?, by time: Int64) -> Bool {
        guard let session, let limit = sessionMilliseconds else { return true }
        return abs(time - session.lastSeen) >= limit
    }

    // MARK: Settings

    /// Changes the settings and tracks the change, atomically.
    ///
    /// - Parameters:
    ///   - isSynced: Whether the change survives a power failure.
    ///   - draft: A record to track with the new settings; its failure is not thrown.
    ///   - change: Changes the settings; false if nothing changed.
    /// - Returns: The id of the record.
    /// - Throws: ``AnalyticsError`` if the settings could not be stored. They apply anyway.
    @discardableResult
    func change(
        isSynced: Bool = false,
        tracking draft: TrackedDraft? = nil,
        _ change: (inout AnalyticsSettings, inout PropertyWriter) -> Bool
    ) throws(AnalyticsError) -> RecordID? {
        let (id, refusal) = try state.withLock { state throws(AnalyticsError) in
            if state.isFollowing {
                update(&state)
                var settings = state.settings
                if change(&settings, &state.writer) { throw refusedChange() }
                return (RecordID?.none, AnalyticsError?.none)
            }
            guard change(&state.settings, &state.writer) else {
                return (RecordID?.none, AnalyticsError?.none)
            }
            state.encodeCircumstances(
                configuration.context,
                hasSessions: sessionMilliseconds != nil
            )
            var (id, refusal): (RecordID?, AnalyticsError?)
            if let draft {
                // Before the settings: a crash in between may track it twice, but never omits it.
                do throws(AnalyticsError) {
                    id = try append(draft, &state)
                } catch {
                    refusal = error
                }
            }
            try write(&state, isSynced: isSynced)
            return (id, refusal)
        }
        if let refusal { refuse(refusal.code) }
        if let draft, id != nil { tell(draft.kind) }
        return id
    }

    /// Stores a decision and puts it into force.
    ///
    /// It applies immediately if it allows less, and only once stored if it allows more.
    func decide(
        _ consent: AnalyticsConsent,
        for purpose: ConsentPurpose
    ) throws(AnalyticsError) {
        try state.withLock { state throws(AnalyticsError) in
            if state.isFollowing {
                update(&state)
                guard consents[purpose] != consent else { return }
                if consent == .denied { deny(purpose, &state) }
                throw refusedChange()
            }
            if consent != .granted { consents.set(consent, for: purpose) }
            let before = state.settings
            state.settings.consents[purpose] = consent
            if consent == .denied {
                state.settings.unfinishedDenials.insert(purpose)
                if !consents.allowsAnything { forgetUser(&state) }
            } else {
                state.settings.unfinishedDenials.remove(purpose)
            }
            do throws(AnalyticsError) {
                try write(&state, isSynced: true)
            } catch {
                if consent == .granted { state.settings = before }
                throw error
            }
            consents.set(consent, for: purpose)
        }
        board.change { $0.consents = consents.all }
    }

    /// Stores that the records of denied purposes are removed.
    ///
    /// Another purpose may have been denied during the removal, which has not removed its records.
    func finishDenials(of purposes: Set<ConsentPurpose>) throws(AnalyticsError) {
        try state.withLock { state throws(AnalyticsError) in
            guard !state.isFollowing, !state.settings.unfinishedDenials.isDisjoint(with: purposes)
            else { return }
            state.settings.unfinishedDenials.subtract(purposes)
            try write(&state, isSynced: false)
        }
    }

    func forgetUser() throws(AnalyticsError) {
        try state.withLock { state throws(AnalyticsError) in
            guard !state.isFollowing else { throw refusedChange() }
            forgetUser(&state)
            try write(&state, isSynced: true)
        }
    }

    func forgetUser(_ state: inout State) {
        state.settings.anonymousID = RecordID.random(configuration.random).text
        state.settings.userID = nil
        state.settings.superProperties = [:]
        state.settings.userProperties = [:]
        state.settings.session = nil
        state.timings = [:]
        state.encodeCircumstances(configuration.context, hasSessions: sessionMilliseconds != nil)
    }

    /// Calls a closure while nothing is tracked.
    func paused<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try state.withLock { _ throws(Failure) in try body() }
    }

    func write(_ state: inout State, isSynced: Bool) throws(AnalyticsError) {
        do throws(FileSystemError) {
            try file.write(state.settings, isSynced: isSynced)
            state.writtenLastSeen = state.settings.session?.lastSeen ?? 0
            let isPersonal = configuration.isPersonal(state.settings.userID)
            board.change { status in
                status.hasPersonalUserID = isPersonal
                if status.settingsProblem != nil { status.settingsProblem = nil }
            }
        } catch {
            let error = AnalyticsError(error, "Storing the settings")
            board.change { $0.settingsProblem = error.code }
            throw error
        }
    }
}

extension Tracker.State {
    mutating func nextID(at milliseconds: Int64) -> RecordID {
        ids.next(at: milliseconds, using: &random)
    }

    mutating func encodeCircumstances(_ context: AnalyticsContext, hasSessions: Bool) {
        var circumstances = RecordCircumstances(anonymousID: settings.anonymousID)
        circumstances.userID = settings.userID
        circumstances.superProperties = settings.superProperties
        circumstances.context = context
        if hasSessions, let session = settings.session {
            circumstances.session = AnalyticsRecord.Session(
                id: session.id,
                start: .init(milliseconds: session.start)
            )
        }
        self.circumstances = circumstances.bytes
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }

    var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
