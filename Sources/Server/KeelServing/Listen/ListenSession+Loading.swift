internal import KeelStorage
internal import KeelStorageAdapting
internal import KeelStorageFirestore

extension ListenSession {
    /// Repeats a read that the kept pages do not continue.
    ///
    /// The stream ends if the target changes faster than it can be read.
    mutating func repeatRead(of id: Int32, _ effects: inout [Effect]) {
        targets[id]?.repetitions += 1
        guard let target = targets[id] else { return }
        guard kept.drops <= KeptPages.mostDrops || target.repetitions < 2 else {
            // As in `fail(_:_:_:)`: the SDKs would end the listener of a removed target, and not retry it. After the
            // end of the stream, which follows a pause, they reconnect, and other targets continue from their tokens.
            let message =
                "a collection changes faster than it can be read; listen to a smaller part of it"
            return effects.append(.end(StreamFailure(.unavailable, message)))
        }
        // A client with some of the documents would lack the others.
        guard !target.isCurrent, !target.needsReset, !target.isPartial,
            let token = target.target.resumption
        else { return self.read(id, &effects) }
        // Otherwise each page until then would begin another read.
        targets[id]?.check?.result = nil
        effects.append(.catchUp(begin(id), after: token.position, target.target.scope))
    }

    mutating func load(
        _ id: Int32,
        _ documents: [Document],
        _ unreadable: [UnreadableDocument],
        at point: Point,
        _ effects: inout [Effect]
    ) {
        let failures = unreadable.count
        if targets[id]?.view.readsFurther(than: documents.count, unreadable: failures) == true {
            return read(id, &effects)
        }
        reset(id, &effects)
        let former = targets[id]?.view
        let steps = targets[id]?.view.load(documents, unreadable: unreadable) ?? []
        targets[id]?.isPartial = false
        guard advance(id, steps, from: point.position, at: point.time, &effects) != nil else {
            // Nothing has been sent.
            if let former { targets[id]?.view = former }
            return read(id, &effects)
        }
        reach = max(reach ?? point.position, point.position)
        arrive(id, at: point.position)
        if let target = targets[id], target.view.bytes > 0 { limitWindows(newest: id, &effects) }
    }

    /// While the stream remembers too many names, makes the targets with most forget them.
    mutating func limitNames() {
        while targets.values.reduce(0, { $0 + $1.view.nameCount }) > mostNames {
            let largest = targets.max {
                ($0.value.view.nameCount, $0.key) < ($1.value.view.nameCount, $1.key)
            }
            guard let id = largest?.key else { return }
            targets[id]?.view.forget()
        }
    }

    /// While the targets with a limit keep too many bytes, removes the newest one, then the largest.
    mutating func limitWindows(newest: Int32? = nil, _ effects: inout [Effect]) {
        var next = newest
        while targets.values.reduce(0, { $0 + $1.view.bytes }) > mostWindowBytes,
            let id = next ?? targets.max(by: { $0.value.view.bytes < $1.value.view.bytes })?.key
        {
            next = nil
            guard targets.removeValue(forKey: id) != nil else { continue }
            let message =
                "the queries with a limit have more than \(mostWindowBytes) bytes of documents; "
                + "lower their limits, or open another stream"
            let failure = StreamFailure(.resourceExhausted, message)
            effects.append(Self.change(.remove, [id], cause: failure))
        }
    }

    /// Makes the client forget a target's documents that are not known here.
    private mutating func reset(_ id: Int32, _ effects: inout [Effect]) {
        guard var target = targets[id], target.needsReset || target.view.needsReset else { return }
        effects.append(Self.change(.reset, [id]))
        (target.needsReset, target.isCurrent, hasNews) = (false, false, true)
        targets[id] = target
    }

    /// Sends a part of a complete read.
    ///
    /// From the first part on, the target takes pages at once: they are not kept while a slow client takes the
    /// documents.
    mutating func loadPart(
        _ id: Int32,
        _ documents: [Document],
        of read: ReadID,
        at point: Point,
        _ effects: inout [Effect]
    ) {
        let isFirst = if case .reading? = targets[id]?.phase { true } else { false }
        if isFirst {
            guard accepts(point, &effects) else { return repeatRead(of: id, &effects) }
            reset(id, &effects)
            targets[id]?.view.beginParts()
            targets[id]?.phase = .loading(read, from: point.position)
            targets[id]?.isPartial = true
            reach = max(reach ?? point.position, point.position)
        }
        let steps = targets[id]?.view.loadPart(documents) ?? []
        guard isFirst else { return send([id: steps], at: point.time, &effects) }
        _ = advance(id, steps, from: point.position, at: point.time, &effects)
    }

    mutating func endLoad(
        _ id: Int32,
        _ documents: [Document],
        from start: ChangeCursor,
        at time: Timestamp,
        _ effects: inout [Effect]
    ) {
        let steps = targets[id]?.view.loadPart(documents) ?? []
        let gone = targets[id]?.view.endParts() ?? []
        targets[id]?.isPartial = false
        send([id: gone + steps], at: time, &effects)
        arrive(id, at: start)
    }

    mutating func catchUp(
        _ id: Int32,
        _ changes: [ChangePage.Change],
        at point: Point,
        _ effects: inout [Effect]
    ) {
        guard let found = targets[id]?.view.apply(changes),
            let steps = advance(id, found, from: point.position, at: point.time, &effects)
        else { return read(id, &effects) }
        reach = max(reach ?? point.position, point.position)
        // A comparison would be repeated, too.
        let isHurried = kept.drops >= KeptPages.mostDrops
        guard !isHurried, let expected = targets[id]?.target.expectedCount else {
            targets[id]?.check = nil
            return arrive(id, at: point.position)
        }
        // After a repeated read, the documents that were sent before still count.
        var check = targets[id]?.check ?? ResultCheck(expected: expected, shown: point.position)
        check.advance(to: max(point.position, kept.pages.last?.next ?? point.position), by: steps)
        targets[id]?.check = check
        startCheck(id, &effects)
    }

    mutating func settle(_ id: Int32, from shown: ChangeCursor, _ effects: inout [Effect]) {
        guard advance(id, [], from: shown, at: nil, &effects) != nil else {
            return read(id, &effects)
        }
        arrive(id, at: shown)
    }

    /// Applies the kept pages after a position, and sends their steps with those of the read there.
    ///
    /// Of each document, only the last state is sent, because the client takes the last message for the newest state.
    ///
    /// - Returns: The steps; nil if the target must be read again, and nothing has been sent.
    private mutating func advance(
        _ id: Int32,
        _ steps: [TargetView.Step],
        from shown: ChangeCursor,
        at time: Timestamp?,
        _ effects: inout [Effect]
    ) -> [TargetView.Step]? {
        var (steps, time) = (steps, time)
        for page in kept.pages {
            // Another target may have sent earlier states since the read began.
            steps += targets[id]?.view.repeated(page.changes) ?? []
            guard shown < page.next else { continue }
            guard let more = targets[id]?.view.apply(page.changes) else { return nil }
            steps += more
            time = page.time
        }
        send([id: renewed(steps, after: shown)], at: time, &effects)
        return steps
    }

    /// Returns steps with the last states of their documents in the kept pages after a position.
    ///
    /// A step can have an earlier state, because a target takes no step for a document that it does not have.
    func renewed(_ steps: [TargetView.Step], after shown: ChangeCursor) -> [TargetView.Step] {
        var last: [DocumentPath: ChangePage.Change] = [:]
        for page in kept.pages where shown < page.next {
            for change in page.changes { last[change.path] = change }
        }
        guard !last.isEmpty else { return steps }
        return steps.map { step in
            guard let change = last[step.path] else { return step }
            guard case .drops(let path, let isDeleted, _) = step else {
                guard case .current(let document) = change else { return step }
                return .has(document)
            }
            guard isDeleted else { return step }
            guard case .removed(_, _, let time) = change else {
                return .drops(path, isDeleted: false)
            }
            return .drops(path, isDeleted: true, at: time)
        }
    }

    /// Ends the read of a target, which waits until the stream reaches the read's position.
    private mutating func arrive(_ id: Int32, at shown: ChangeCursor) {
        let isAhead = position.map { $0 < shown } ?? true
        targets[id]?.phase = isAhead ? .ahead(shown) : .settled
        targets[id]?.repetitions = 0
        targets[id]?.hasBegunAgain = false
    }

    mutating func fail(
        _ id: Int32,
        _ error: StorageError,
        _ effects: inout [Effect]
    ) {
        // A failed comparison does not end its target.
        guard targets[id]?.check == nil else { return abandonCheck(id, error, &effects) }
        if error.code == .snapshotTooOld, var target = targets[id], !target.hasBegunAgain,
            case .loading = target.phase
        {
            // The store may have been restarted; a client that is too slow gets one more chance on this stream.
            target.view = TargetView(target.target.content)
            (target.needsReset, target.hasBegunAgain) = (true, true)
            targets[id] = target
            return read(id, &effects)
        }
        let failure = StreamFailure(listening: error)
        // A target that is removed with a cause ends its listener in the SDKs for the web, iOS and Android, whatever
        // the status: even a transient one is not retried. A stream that ends with `UNAVAILABLE` is opened again after
        // a short pause by all of them, and by the server SDKs; its other targets continue from their tokens.
        // `RESOURCE_EXHAUSTED` would mean their longest pause, a minute.
        //
        // Source: firebase/firebase-js-sdk, packages/firestore/src/remote/remote_store.ts, `onWatchStreamChange`,
        // `handleTargetError` and `onWatchStreamClose`, and persistent_stream.ts, `close`.
        guard failure.status != .unavailable else { return effects.append(.end(failure)) }
        targets[id] = nil
        effects.append(Self.change(.remove, [id], cause: failure))
    }
}
