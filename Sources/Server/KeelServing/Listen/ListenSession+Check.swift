internal import KeelStorage
internal import KeelStorageAdapting
internal import KeelStorageFirestore

extension ListenSession {
    /// Asks for the result of a resumed target, which takes pages that arrive meanwhile after the comparison.
    mutating func startCheck(_ id: Int32, _ effects: inout [Effect]) {
        guard let target = targets[id], let check = target.check else { return }
        let operation = check.needsPaths ? target.view.result : target.view.count
        guard let operation else { return endCheck(id, &effects) }
        targets[id]?.check?.attempts += 1
        targets[id]?.check?.result = nil
        effects.append(.read(begin(id), operation))
    }

    /// Compares a target with its result, once the stream has reached the position of the result.
    mutating func compare(_ id: Int32, _ effects: inout [Effect]) {
        guard let check = targets[id]?.check, let result = check.result, let position else {
            return
        }
        guard max(result.position, check.shown) <= position else { return }
        guard kept.start.map({ $0 <= check.shown }) ?? false else {
            return repeatRead(of: id, &effects)
        }
        var verdict: ResultCheck.Verdict?
        var isMissed = result.position < check.shown
        // As in `advance(_:_:from:at:_:)`, only the last state of each document is sent, also before the filter.
        var (steps, time): ([TargetView.Step], Timestamp?) = ([], nil)
        for page in kept.pages {
            guard let shown = targets[id]?.check?.shown, shown < page.next else { continue }
            if result.position <= shown, verdict == nil, !isMissed {
                send([id: renewed(steps, after: check.shown)], at: time, &effects)
                steps = []
                verdict = judge(id, result, &effects)
            }
            guard let more = targets[id]?.view.apply(page.changes) else {
                return read(id, &effects)
            }
            // The page leads beyond the result, and changes it.
            if shown < result.position, result.position < page.next, !more.isEmpty {
                isMissed = true
            }
            targets[id]?.check?.advance(to: page.next, by: more)
            steps += more
            time = page.time
        }
        send([id: renewed(steps, after: check.shown)], at: time, &effects)
        if verdict == nil, !isMissed { verdict = judge(id, result, &effects) }
        let attempts = targets[id]?.check?.attempts ?? 0
        if verdict == .differs, result.paths == nil {
            targets[id]?.check?.needsPaths = true
            startCheck(id, &effects)
        } else if isMissed, attempts < ResultCheck.mostAttempts {
            startCheck(id, &effects)
        } else {
            endCheck(id, &effects)
        }
    }

    /// Sends the client what it needs to compare its documents with the result, if they may differ.
    private mutating func judge(
        _ id: Int32,
        _ result: ResultCheck.Result,
        _ effects: inout [Effect]
    ) -> ResultCheck.Verdict? {
        let verdict = targets[id]?.check?.verdict(on: result.count)
        guard verdict == .mayDiffer || verdict == .differs && result.paths != nil else {
            return verdict
        }
        effects.append(.send(.filter(.init(target: id, count: result.count, paths: result.paths))))
        return verdict
    }

    mutating func abandonCheck(
        _ id: Int32,
        _ error: StorageError,
        _ effects: inout [Effect]
    ) {
        guard let shown = targets[id]?.check?.shown else { return }
        guard kept.start.map({ $0 <= shown }) ?? false else {
            let failure = StreamFailure(listening: error)
            // A store that is away would be asked again at once, until it is back.
            guard failure.status != .unavailable else { return effects.append(.end(failure)) }
            return repeatRead(of: id, &effects)
        }
        endCheck(id, &effects)
    }

    mutating func endCheck(_ id: Int32, _ effects: inout [Effect]) {
        guard let check = targets[id]?.check else { return }
        targets[id]?.check = nil
        settle(id, from: check.shown, &effects)
    }
}
