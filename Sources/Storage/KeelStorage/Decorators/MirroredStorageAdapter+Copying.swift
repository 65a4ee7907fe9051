internal import KeelCore
internal import KeelDocuments
internal import KeelStorageAdapting

extension MirroredStorageAdapter {
    private static var mostAtOnce: Int { 200 }

    private var followsLog: Bool {
        primary.capabilities.contains(.changeLog) && record != nil
    }

    // MARK: Before a commit

    func open() async throws(StorageError) {
        guard !ledger.isOpen else { return }
        guard let record else {
            ledger.open()
            observer(.notKept(.noKeeper))
            return
        }
        try checkName()
        // First of all, so that the position precedes every later commit.
        if followsLog, ledger.cursor == nil, let present = try await position() {
            ledger.begin(at: present)
        }
        do throws(StorageError) {
            if followsLog {
                try await openLog(record)
            } else {
                let (paths, notes) = try await record.noted()
                ledger.open(paths, notes)
            }
        } catch {
            if !error.isCancellation { observer(.notKept(error)) }
        }
    }

    func checkName() throws(StorageError) {
        guard let flaw = record?.flaw else { return }
        throw StorageError(.invalidArgument, "a mirror has an invalid name: \(flaw)")
    }

    private func openLog(_ record: MirrorRecord) async throws(StorageError) {
        if let start = ledger.cursor {
            do throws(StorageError) {
                try await record.commit([record.batch(movingTo: start, if: .isMissing)])
            } catch {
                guard error.code == .alreadyExists else { throw error }
                if let stored = try await record.cursor() { ledger.move(to: stored) }
            }
        }
        ledger.open()
    }

    private func position() async throws(StorageError) -> ChangeCursor? {
        var request = ReadRequest(.documents([]))
        request.needsPosition = true
        return try await primary.read(request).position
    }

    func note(_ paths: Set<DocumentPath>) async -> DocumentPath? {
        guard let record, !followsLog, !paths.isEmpty else { return nil }
        do throws(StorageError) {
            return try await record.note(paths)
        } catch {
            if !error.isCancellation { observer(.notKept(error)) }
            return nil
        }
    }

    // MARK: After a commit

    /// Copies all recorded changes to the mirror, unless another call does.
    func copy() async {
        guard ledger.isOpen || record == nil || followsLog else { return }
        // The log is copied whichever documents it names.
        let limit = followsLog ? Int.max : Self.mostAtOnce
        var isAgain = false
        while let (paths, notes) = ledger.begin(upTo: limit, isAgain: isAgain) {
            isAgain = true
            var isDone = true
            var failed: Set<DocumentPath> = []
            var done: Set<DocumentPath> = []
            do throws(StorageError) {
                failed = followsLog ? try await copyLog(paths) : try await copy(paths)
                isDone = failed.isEmpty
                if isDone {
                    try await record?.remove(notes)
                    done = notes
                }
            } catch {
                (failed, isDone) = (Set(paths), false)
                if !error.isCancellation { observer(.copyFailed(paths, error)) }
            }
            // A retry would fail now, so failed documents wait for the next commit.
            let areGivenUp = ledger.end(
                keeping: failed,
                without: done,
                isBehind: followsLog && !isDone
            )
            if areGivenUp { observer(.isBehind(.tooManyWait)) }
            if !isDone { return }
        }
    }

    private func copy(_ paths: [DocumentPath]) async throws(StorageError) -> Set<DocumentPath> {
        guard !paths.isEmpty else { return [] }
        var request = ReadRequest(.documents(paths))
        request.reportsUnreadable = true
        let result = try await primary.read(request)
        guard case .documents(let documents) = result.payload else { return [] }
        for document in result.unreadable { observer(.copyFailed([document.path], document.error)) }
        let unreadable = Set(result.unreadable.map(\.path))
        let states = zip(paths, documents).filter { !unreadable.contains($0.0) }
        return try await store(states.map { ($0, $1) })
    }

    /// Copies the first store's log after the cursor; returns the documents of `paths` to retry.
    private func copyLog(_ paths: [DocumentPath]) async throws(StorageError) -> Set<DocumentPath> {
        guard let record else { return [] }
        // The keeper may have been unavailable at the first commit.
        if !ledger.isOpen { try await openLog(record) }
        // Without a position, there is no place from which to copy the log.
        guard ledger.cursor != nil else { return try await copy(paths) }
        while let cursor = ledger.cursor {
            let page: ChangePage
            do throws(StorageError) {
                var request = ChangeRequest(after: cursor, limit: Self.mostAtOnce)
                request.reader = record.reader
                page = try await primary.changes(request)
            } catch {
                guard error.code == .cursorExpired else { throw error }
                return try await beginAnew(paths, after: error, record)
            }
            let changes = page.changes.filter { !MirrorRecord.isRecord($0.path) }
            let failed = try await store(changes)
            guard failed.isEmpty else { return failed.union(paths) }
            if !changes.isEmpty || !page.isCaughtUp {
                try await record.commit([record.batch(movingTo: page.next)])
            }
            ledger.move(to: page.next)
            if page.isCaughtUp || ledger.leaveLog() { break }
        }
        return []
    }

    /// Continues from the present because the log no longer reaches the cursor.
    private func beginAnew(
        _ paths: [DocumentPath],
        after error: StorageError,
        _ record: MirrorRecord
    ) async throws(StorageError) -> Set<DocumentPath> {
        observer(.isBehind(error))
        guard let present = try await position() else { throw error }
        let failed = try await copy(paths)
        // The log after the present does not name them, so the next attempt must take this path again.
        guard failed.isEmpty else { return failed }
        try await record.commit([record.batch(movingTo: present)])
        ledger.move(to: present)
        return []
    }

    private func store(_ changes: [ChangePage.Change]) async throws(StorageError) -> Set<
        DocumentPath
    > {
        var states: [(DocumentPath, Document?)] = []
        for change in changes {
            switch change {
            case .current(let document): states.append((document.path, document))
            case .removed(let path, _, _): states.append((path, nil))
            case .unreadable(let document):
                observer(.copyFailed([document.path], document.error))
            case .leftScope: break
            }
        }
        return try await store(states)
    }

    private func store(
        _ all: [(DocumentPath, Document?)]
    ) async throws(StorageError) -> Set<DocumentPath> {
        let takesOwnRecords = MirrorRecord.takesReservedNames(mirror)
        let states = all.filter { takesOwnRecords || !$0.0.collection.hasReservedSegment }
        guard !states.isEmpty else { return [] }
        let keepsTimes = mirror.capabilities.contains(.replication)
        let batches = states.map { path, document in
            let operation: DocumentWrite.Operation =
                switch document {
                case nil: .delete
                case let document? where keepsTimes: .replicate(document)
                case let document?: .set(document.body)
                }
            return WriteBatch([DocumentWrite(path, operation)])
        }
        var failed: Set<DocumentPath> = []
        for ((path, _), result) in zip(states, try await mirror.commit(batches)) {
            guard case .failure(let error) = result else { continue }
            if !error.isCancellation { observer(.copyFailed([path], error)) }
            if error.isTransient || error.isCancellation { failed.insert(path) }
        }
        return failed
    }
}

extension StorageError {
    static var tooManyWait: StorageError {
        StorageError(
            .tooLarge,
            "more than \(MirrorLedger.mostNames) documents are waiting for the mirror, and the store has no change log"
        )
    }

    fileprivate static var noKeeper: StorageError {
        StorageError(
            .unsupported,
            "neither store accepts reserved names or has a change log"
        )
    }
}
