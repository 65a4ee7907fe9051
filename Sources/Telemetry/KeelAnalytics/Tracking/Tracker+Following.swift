internal import KeelCore
internal import KeelJournal
internal import Synchronization

/// A tracker follows while another service of the folder stores the settings.
extension Tracker {
    /// Makes this tracker the one that stores the settings; call it with the folder's lock.
    ///
    /// - Throws: If it cannot read what the earlier one has stored, which it must not overwrite.
    func lead() throws(FileSystemError) {
        try state.withLock { state throws(FileSystemError) in
            guard state.isFollowing else { return }
            if file.hasChanged {
                switch try file.read() {
                case .settings(let settings): adopt(settings, &state)
                case .nothing: break
                case .damaged:
                    // The lost decisions may have been denials, as at a launch.
                    let id = RecordID.random(configuration.random).text
                    var unknown = AnalyticsSettings(anonymousID: id)
                    unknown.hasLostConsents = true
                    adopt(unknown, &state)
                    board.change { $0.hasLostSettings = true }
                }
            }
            state.isFollowing = false
            for purpose in state.ownDenials {
                state.settings.consents[purpose] = .denied
                state.settings.unfinishedDenials.insert(purpose)
            }
            if !state.ownDenials.isEmpty, !consents.allowsAnything { forgetUser(&state) }
            state.ownDenials = []
            // A failure is in the status; what is not stored applies until the process ends.
            try? write(&state, isSynced: true)
        }
    }

    /// Leaves the settings to another service of the folder.
    func follow() { state.withLock { $0.isFollowing = true } }

    /// Takes over the changes of the service that stores the settings since the last look.
    func update(_ state: inout State) {
        guard state.isFollowing, file.hasChanged, let settings = try? file.peek() else { return }
        adopt(settings, &state)
    }

    private func adopt(_ settings: AnalyticsSettings, _ state: inout State) {
        var decided = settings.consents
        for purpose in state.ownDenials { decided[purpose] = .denied }
        let isDeniedAnew = decided.contains { decision in
            decision.value == .denied && consents[decision.key] != .denied
        }
        let own = state.settings
        state.settings = settings
        // Otherwise the visit that this process has begun, which it does not store, would become two sessions.
        let now = configuration.now() / 1000
        if own.anonymousID == settings.anonymousID, hasEnded(settings.session, by: now),
            !hasEnded(own.session, by: now)
        {
            state.settings.session = own.session
        }
        state.writtenLastSeen = settings.session?.lastSeen ?? 0
        state.encodeCircumstances(configuration.context, hasSessions: hasSessions)
        consents.replace(
            decided,
            fallback: settings.hasLostConsents ? .unknown : configuration.defaultConsent
        )
        board.change { $0.consents = decided }
        // The other service cannot erase what this process is writing.
        if isDeniedAnew, state.isShared { eraseDenied() }
    }

    /// Lets a purpose be denied here, until this service stores the settings.
    func deny(_ purpose: ConsentPurpose, _ state: inout State) {
        state.ownDenials.insert(purpose)
        consents.set(.denied, for: purpose)
        board.change { $0.consents = consents.all }
        // The records that are erased now are not counted by the service that delivers.
        if (try? file.share()) != nil { state.isShared = true }
    }

    /// Removes the records of denied purposes, with those that this process has written.
    private func eraseDenied() {
        try? journal.close()
        try? journal.erase { record in
            guard let purpose = try? RecordCoding.purpose(of: record.bytes) else { return false }
            return consents[purpose] == .denied
        }
    }

    func refusedChange() -> AnalyticsError {
        board.change { $0.settingsProblem = .inUse }
        return AnalyticsError(
            .inUse,
            "Another service delivers the folder’s events, and stores the user and the decisions"
        )
    }
}
