import KeelAnalytics
import Testing

extension AnalyticsDestinationCheck {
    package static let description: [Self] = [
        Self(.description, "has a name of 1 to 32 letters, digits, “-” and “_”") {
            opened async throws in
            let name = opened.destination.name
            #expect((1...32).contains(name.utf8.count))
            #expect(
                name.unicodeScalars.allSatisfy { scalar in
                    scalar.isASCII
                        && (scalar.properties.isAlphabetic || "0123456789-_".contains("\(scalar)"))
                }
            )
            #expect(opened.destination.name == name)
        },
        Self(.description, "allows batches of at least one record and one byte") {
            opened async throws in
            #expect(opened.destination.limits.records >= 1)
            #expect(opened.destination.limits.bytes >= 1)
        },
    ]

    package static let sizes: [Self] = [
        Self(.sizes, "returns the same positive size for the same record") { opened async throws in
            for record in SampleRecords.everyKind {
                let size = try opened.destination.size(of: record)
                #expect(size > 0)
                #expect(try opened.destination.size(of: record) == size)
                #expect(size <= opened.destination.limits.bytes)
            }
        },
        Self(.sizes, "explains why a record can never be delivered without revealing its values") {
            opened async throws in
            let long = String(repeating: SampleRecords.secret, count: 100_000)
            do throws(AnalyticsRejection) {
                let record = SampleRecords.event(1, ["value": .string(long)])
                let size = try opened.destination.size(of: record)
                #expect(size > 0)
            } catch {
                #expect(!error.reason.isEmpty && error.reason.utf8.count <= 40)
                #expect(!error.description.contains(SampleRecords.secret))
            }
        },
    ]

    package static let delivery: [Self] = [
        Self(.delivery, "delivers a complete batch in order") { opened async throws in
            let batch = (1...3).map { SampleRecords.event($0) }
            #expect(await opened.destination.deliver(batch) == .delivered)
            #expect(try await opened.receivedIDs() == batch.map(\.id))
        },
        Self(.delivery, "delivers records of every kind") { opened async throws in
            let batch = SampleRecords.everyKind
            #expect(await opened.destination.deliver(batch) == .delivered)
            #expect(Set(try await opened.receivedIDs()) == Set(batch.map(\.id)))
        },
        Self(.delivery, "delivers every kind of value or rejects it beforehand") {
            opened async throws in
            let batch = SampleRecords.everyValue.filter {
                (try? opened.destination.size(of: $0)) != nil
            }
            var ids: Set<String> = []
            for record in batch {
                #expect(await opened.destination.deliver([record]) == .delivered, "\(record)")
                ids.insert(record.id)
            }
            #expect(Set(try await opened.receivedIDs()) == ids)
        },
        Self(.delivery, "delivers as many records as its limits allow") { opened async throws in
            let limits = opened.destination.limits
            var batch: [AnalyticsRecord] = []
            var size = 0
            for number in 1...min(limits.records, 3000) {
                let record = SampleRecords.event(number)
                size += try opened.destination.size(of: record)
                guard size <= limits.bytes else { break }
                batch.append(record)
            }
            #expect(await opened.destination.deliver(batch) == .delivered)
            #expect(Set(try await opened.receivedIDs()) == Set(batch.map(\.id)))
        },
        Self(.delivery, "delivers repeated records only once if it guarantees that") {
            opened async throws in
            let batch = (1...3).map { SampleRecords.event($0) }
            #expect(await opened.destination.deliver(batch) == .delivered)
            #expect(await opened.destination.deliver(Array(batch.reversed())) == .delivered)
            guard opened.destination.guarantee == .effectivelyOnce else { return }
            #expect(try await opened.receivedIDs().sorted() == batch.map(\.id).sorted())
        },
    ]

    package static let faults: [Self] = [
        Self(
            .faults,
            "postpones a batch when the service is unavailable",
            when: .unavailable
        ) { opened async throws in
            let outcome = await opened.destination.deliver([SampleRecords.event(1)])
            guard case .postponed(let problem, _) = outcome else {
                Issue.record("postponed was expected, not \(outcome)")
                return
            }
            #expect(!problem.description.isEmpty)
            #expect(!problem.description.contains(SampleRecords.secret))
        },
        Self(.faults, "passes on the delay that the service requests", when: .busy) {
            opened async throws in
            let outcome = await opened.destination.deliver([SampleRecords.event(1)])
            guard case .postponed(_, let pause) = outcome else {
                Issue.record("postponed was expected, not \(outcome)")
                return
            }
            #expect(pause.map { (.seconds(25)...(.seconds(35))).contains($0) } == true)
        },
        Self(.faults, "reports an unknown outcome when the reply is lost", when: .losingReplies) {
            opened async throws in
            let outcome = await opened.destination.deliver([SampleRecords.event(1)])
            switch outcome {
            case .unknown: break
            // If repetitions are recognized, both outcomes are equivalent.
            case .postponed where opened.destination.guarantee == .effectivelyOnce: break
            default: Issue.record("unknown was expected, not \(outcome)")
            }
        },
        Self(.faults, "reports when a batch is too large", when: .refusingSize) {
            opened async throws in
            let batch = [SampleRecords.event(1), SampleRecords.event(2)]
            #expect(await opened.destination.deliver(batch) == .tooLarge)
        },
        Self(.faults, "reports when its configuration is wrong", when: .refusingKey) {
            opened async throws in
            let outcome = await opened.destination.deliver([SampleRecords.event(1)])
            guard case .misconfigured(let problem) = outcome else {
                Issue.record("misconfigured was expected, not \(outcome)")
                return
            }
            #expect(!problem.description.contains(SampleRecords.secret))
        },
        Self(
            .faults,
            "stops when canceled and claims neither delivery nor refusal",
            when: .hanging
        ) { opened async throws in
            let outcome = await withTaskGroup(of: DeliveryOutcome.self) { group in
                group.addTask { await opened.destination.deliver([SampleRecords.event(1)]) }
                await Task.yield()
                group.cancelAll()
                return await group.next()
            }
            // Every other outcome is a statement of the service, which has not answered.
            switch outcome {
            case .postponed?, .unknown?: break
            default:
                Issue.record("unknown was expected, not \(String(describing: outcome))")
            }
        },
    ]
}
