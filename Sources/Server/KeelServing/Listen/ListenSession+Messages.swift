internal import KeelStorage
internal import KeelStorageAdapting

extension ListenSession {
    /// Sends steps, one message for each document; `time` is nil if their state is not consistent.
    mutating func send(
        _ steps: [Int32: [TargetView.Step]],
        at time: Timestamp?,
        _ effects: inout [Effect]
    ) {
        struct Combined {
            var document: Document?
            var targets: [Int32] = []
            var removed: [Int32] = []
            var isDeleted = true
            var deletion: Timestamp?

            mutating func add(_ state: Document, of target: Int32) {
                // A target that is ahead repeats a later state than the page has.
                if document.map({ $0.updateTime <= state.updateTime }) ?? true { document = state }
                targets.append(target)
            }
        }
        var order: [DocumentPath] = []
        var combined: [DocumentPath: Combined] = [:]
        for id in steps.keys.sorted() where steps[id]?.isEmpty == false {
            // Of the steps of one document, the last one counts.
            var last: [DocumentPath: Int] = [:]
            for (place, step) in (steps[id] ?? []).enumerated() { last[step.path] = place }
            for (place, step) in (steps[id] ?? []).enumerated() where last[step.path] == place {
                if combined[step.path] == nil { order.append(step.path) }
                switch step {
                case .has(let document):
                    combined[step.path, default: Combined()].add(document, of: id)
                case .drops(_, let isDeleted, let deletion):
                    combined[step.path, default: Combined()].removed.append(id)
                    combined[step.path]?.deletion = deletion
                    if !isDeleted { combined[step.path]?.isDeleted = false }
                }
            }
        }
        for path in order {
            guard let all = combined[path] else { continue }
            hasNews = true
            // A client keeps a document that is newer than a deletion, such as one of a target that is ahead. It takes
            // a deletion without a time for the newest state.
            let deletion = all.deletion ?? time
            let message: ListenResponse =
                if let document = all.document {
                    .document(
                        .init(document: document, targets: all.targets, removed: all.removed)
                    )
                } else {
                    .departure(
                        .init(
                            path: path,
                            isDeleted: all.isDeleted && deletion != nil,
                            targets: all.removed,
                            readTime: all.isDeleted ? deletion : time
                        )
                    )
                }
            effects.append(.send(message))
        }
    }

    /// Whether all documents that the client has belong to the stream's consistent point.
    var isShowable: Bool {
        guard let point, reach.map({ $0 <= point.position }) ?? true else { return false }
        return targets.values.allSatisfy { target in
            switch target.phase {
            // A target that is read for the first time shows nothing yet.
            case .reading: !target.isCurrent && !target.isPartial
            // A client would show a part as the result.
            case .loading: false
            case .ahead, .settled: true
            }
        }
    }

    /// Tells the client that its documents are consistent, if they have changed.
    mutating func publish(_ effects: inout [Effect]) {
        guard isShowable, let point else { return }
        takeNames(at: point.position)
        let complete = targets.keys.sorted().filter { id in
            guard let target = targets[id], !target.isCurrent, case .settled = target.phase else {
                return false
            }
            return true
        }
        guard hasNews || !complete.isEmpty else { return }
        for id in complete {
            targets[id]?.isCurrent = true
            if targets[id]?.target.isOnce != true {
                askForNames(of: id, at: point.position, &effects)
            }
        }
        hasNews = false
        // The message that follows has the token of all targets, unless one is incomplete.
        let isComplete = targets.values.allSatisfy(\.isCurrent)
        let (token, time) = (ResumeToken(point.position), point.time)
        if joinsCurrent, isComplete, !complete.isEmpty {
            effects.append(Self.change(.current, [], token: token, readTime: time))
        } else {
            effects += complete.map { id in
                isComplete
                    ? Self.change(.current, [id])
                    : Self.change(.current, [id], token: token, readTime: time)
            }
            effects.append(noChange(at: point))
        }
        for id in complete where targets[id]?.target.isOnce == true {
            targets[id] = nil
            effects.append(Self.change(.remove, [id]))
        }
    }

    /// Returns the message that makes a client show a consistent point.
    ///
    /// Clients keep its token for all targets, so it has none while a target is incomplete.
    func noChange(at point: Point) -> Effect {
        let isComplete = targets.values.allSatisfy(\.isCurrent)
        return Self.change(
            .noChange,
            [],
            token: isComplete ? ResumeToken(point.position) : nil,
            readTime: point.time
        )
    }

    static func change(
        _ kind: ListenResponse.TargetChange.Kind,
        _ targets: [Int32],
        cause: StreamFailure? = nil,
        token: ResumeToken? = nil,
        readTime: Timestamp? = nil
    ) -> Effect {
        .send(
            .target(
                .init(kind: kind, targets: targets, cause: cause, token: token, readTime: readTime)
            )
        )
    }
}
