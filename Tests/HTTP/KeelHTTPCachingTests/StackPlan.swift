import KeelHTTP
import KeelHTTPCaching
import KeelTestKit

/// The optional layers of an app; those of every client are not included.
enum StackLayer: CaseIterable, Sendable {
    case coalescing, sharedCoalescing, idempotencyKeys
    case caching, coalescingBelow
    case bearer, basic, circuit, rate, hedging, concurrency
    /// A layer of the app that adds a field, outermost or in each attempt.
    case fieldAbove, fieldBelow
    case cookies, compression, decompression
    /// Not layers, but settings that must hold through all of them.
    case pins, observer
}

/// The events of one life of an app: drawn from a seed, and reduced if it fails.
struct StackPlan: Sendable {
    struct Client: Sendable {
        var layers: Set<StackLayer> = []
        var attempts = 1
        /// 0 follows no redirects, 1 those of safe methods, 2 all.
        var redirects = 0
        /// 0 is the client's own, 1 a shared one, 2 none.
        var budget = 0
        var places = 1
        var queue = 1000
        /// The order of the layers that may stand anywhere.
        var order: UInt64 = 0
    }

    enum Kind: CaseIterable, Sendable {
        case get, head, raw, stream, dropped, post, put, upload
    }

    struct Call: Sendable {
        var client = 0
        var kind = Kind.get
        var path = 0
        var authentication = HTTPAuthentication.optional
        var policy = HTTPCachePolicy.standard
        var delay = Duration.zero
        var cancelled: Duration?
        /// The number of pieces of an upload.
        var pieces = 1
        var hasLength = false
        var isReplayable = false
        var isPost = false
    }

    enum Change: Sendable {
        case signIn(String)
        case signOut, refresh, revoke
    }

    struct Step: Sendable {
        var changes: [(client: Int, delay: Duration, change: Change)] = []
        var calls: [Call] = []
        var pause = Duration.zero
    }

    /// One launch of the app, until its end.
    struct Process: Sendable {
        var isKilled = false
        var steps: [Step] = []
    }

    let seed: UInt64
    /// The seed of the order of the tasks' steps.
    var order: UInt64
    /// The percentage of requests with a fault.
    var faultRate: Int
    var clients: [Client]
    var processes: [Process]

    static let users = ["ann", "bob", "cat"]
}

// MARK: - Drawing

extension StackPlan {
    init(seed: UInt64) {
        let dice = UserDice(seed: seed)
        self.seed = seed
        order = seed
        faultRate = dice.pick([5, 20, 50])
        let sharesCoalescing = dice.happens(20)
        let field = dice.number(0...2)
        clients = (0..<2).map { _ in
            Self.client(dice, sharesCoalescing: sharesCoalescing, field: field)
        }
        // Many short lives find more than few long ones.
        var last: Step?
        processes = (0..<dice.pick([1, 1, 1, 2, 2, 3])).map { _ in
            Process(
                isKilled: dice.happens(40),
                steps: (0..<dice.pick([1, 1, 2])).map { _ in
                    let step = Self.step(dice, after: last)
                    last = step
                    return step
                }
            )
        }
    }

    private static func client(_ dice: UserDice, sharesCoalescing: Bool, field: Int) -> Client {
        let chances: [(StackLayer, Int)] = [
            (.idempotencyKeys, 30), (.caching, 85), (.coalescingBelow, 20), (.circuit, 30),
            (.rate, 25), (.hedging, 40), (.concurrency, 70), (.cookies, 40), (.compression, 15),
            (.decompression, 60), (.pins, 30), (.observer, 50),
        ]
        var layers = Set(chances.filter { dice.happens($0.1) }.map(\.0))
        // Coalescing shared by two clients does not see the differences added below it.
        if sharesCoalescing, field != 2 {
            layers.insert(.sharedCoalescing)
        } else if dice.happens(50) {
            layers.insert(.coalescing)
        }
        // Otherwise a client without the field would find in the cache the response to one whose
        // field is added below: above the layer, their requests are indistinguishable.
        switch field {
        case 1 where dice.happens(90): layers.insert(.fieldAbove)
        case 2: layers.insert(.fieldBelow)
        default: break
        }
        switch dice.number(1...10) {
        case 1...8: layers.insert(.bearer)
        case 9: layers.insert(.basic)
        default: break
        }
        return Client(
            layers: layers,
            attempts: dice.number(1...3),
            redirects: dice.pick([0, 1, 2, 2, 2]),
            budget: dice.number(0...2),
            places: dice.pick([1, 1, 2, 3]),
            queue: dice.pick([1, 1000, 1000]),
            order: UInt64(dice.number(0...1 << 30))
        )
    }

    private static func step(_ dice: UserDice, after last: Step?) -> Step {
        var step = Step()
        if let last, dice.happens(60) {
            // Requests are repeated: by the same users, by others, or by both.
            if dice.happens(30) {
                step.changes = [(dice.number(0...1), .zero, .signIn(dice.pick(users)))]
            }
            let isOthers = dice.happens(40)
            step.calls = last.calls.map { call in
                var again = call
                if isOthers { again.client = 1 - call.client }
                if dice.happens(70) { again.kind = dice.pick([.get, .get, .stream, .raw]) }
                if dice.happens(70) { again.policy = .standard }
                again.cancelled = nil
                return again
            }
            step.pause = .seconds(dice.pick([0, 1, 3, 40]))
            return step
        }
        for client in 0..<2 where dice.happens(60) {
            let change: Change
            switch dice.number(0...9) {
            case 0...4: change = .signIn(dice.pick(users))
            case 5: change = .signOut
            case 6: change = .refresh
            default: change = .revoke
            }
            // Before the calls, or among them.
            let delay = Duration.milliseconds(dice.pick([0, 0, 5, 300, 2000]))
            step.changes.append((client, delay, change))
        }
        step.calls = (0..<dice.number(1...4)).map { _ in call(dice) }
        if dice.happens(35) { step.calls = crowd(dice) }
        step.pause = .seconds(dice.pick([0, 0, 1, 5, 40]))
        return step
    }

    /// Returns identical concurrent calls of one client.
    private static func crowd(_ dice: UserDice) -> [Call] {
        let first = call(dice)
        let kind = dice.pick([Kind.get, .get, .upload, .post])
        return (0..<dice.number(2...4)).map { _ in
            var call = call(dice)
            call.client = first.client
            call.path = first.path
            call.authentication = first.authentication
            call.kind = kind
            call.delay = .milliseconds(dice.pick([0, 0, 0, 300]))
            call.pieces = dice.number(3...8)
            if kind == .get, dice.happens(80) { call.policy = .standard }
            return call
        }
    }

    private static func call(_ dice: UserDice) -> Call {
        var call = Call()
        call.client = dice.number(0...1)
        call.kind = dice.happens(45) ? .get : dice.pick(Kind.allCases)
        call.path = dice.pick([0, 0, 0, 1, 1, 2, 3])
        call.authentication = dice.pick([.required, .required, .optional, .none])
        call.policy = dice.happens(45) ? .standard : dice.pick(Call.policies).1
        call.delay = .milliseconds(dice.pick([0, 0, 0, 5, 300, 2500]))
        if dice.happens(8) { call.cancelled = .milliseconds(dice.number(0...3000)) }
        call.pieces = dice.number(1...6)
        call.hasLength = dice.happens(50)
        call.isReplayable = dice.happens(50)
        call.isPost = dice.happens(50)
        return call
    }
}

// MARK: - Reducing

extension StackPlan {
    /// Returns a smallest plan in which the fault still occurs.
    func shrunk(while fails: (StackPlan) -> Bool) -> StackPlan {
        var smallest = self
        while let smaller = smallest.smaller.first(where: fails) { smallest = smaller }
        return smallest
    }

    /// The plans with one element less, the most reduced first.
    private var smaller: [StackPlan] {
        var plans: [StackPlan] = []
        func add(_ change: (inout StackPlan) -> Void) {
            var plan = self
            change(&plan)
            plans.append(plan)
        }
        for process in processes.indices where processes.count > 1 {
            add { $0.processes.remove(at: process) }
        }
        for process in processes.indices {
            let steps = processes[process].steps
            for step in steps.indices {
                if steps.count > 1 { add { $0.processes[process].steps.remove(at: step) } }
                for call in steps[step].calls.indices {
                    add { $0.processes[process].steps[step].calls.remove(at: call) }
                }
                for change in steps[step].changes.indices {
                    add { $0.processes[process].steps[step].changes.remove(at: change) }
                }
            }
        }
        for client in clients.indices {
            for layer in StackLayer.allCases where clients[client].layers.contains(layer) {
                add { $0.clients[client].layers.remove(layer) }
            }
            if clients[client].attempts > 1 { add { $0.clients[client].attempts = 1 } }
            if clients[client].redirects > 0 { add { $0.clients[client].redirects = 0 } }
        }
        return plans
    }
}

extension StackPlan: CustomStringConvertible {
    var description: String {
        var lines = ["seed \(seed), order \(order), faults \(faultRate) %"]
        for (number, client) in clients.enumerated() {
            let layers = StackLayer.allCases.filter { client.layers.contains($0) }
            lines.append(
                "client \(number): \(layers.map { "\($0)" }.joined(separator: ", ")); "
                    + "attempts \(client.attempts), redirects \(client.redirects), "
                    + "budget \(client.budget), places \(client.places), queue \(client.queue)"
            )
        }
        for (number, process) in processes.enumerated() {
            lines.append("process \(number)\(process.isKilled ? ", killed at its end" : "")")
            for step in process.steps {
                lines.append("  step, then a pause of \(step.pause)")
                lines += step.changes.map {
                    "    client \($0.client): \($0.change) after \($0.delay)"
                }
                lines += step.calls.map { "    \($0)" }
            }
        }
        return lines.joined(separator: "\n")
    }
}

extension StackPlan.Call: CustomStringConvertible {
    static let policies: [(String, HTTPCachePolicy)] = [
        ("standard", .standard), ("revalidate", .revalidate), ("reload", .reload),
        ("bypass", .bypass), ("cacheElseNetwork", .cacheElseNetwork), ("cacheOnly", .cacheOnly),
        ("staleWhenOffline", .staleWhenOffline),
    ]

    var description: String {
        var text = "client \(client): \(kind) /\(path), authentication \(authentication)"
        text += ", \(Self.policies.first { $0.1 == policy }?.0 ?? "") after \(delay)"
        if let cancelled { text += ", cancelled after \(cancelled)" }
        if kind == .upload {
            text += ", \(isPost ? "POST" : "PUT") of \(pieces) pieces"
            text += "\(hasLength ? ", length known" : "")\(isReplayable ? ", replayable" : "")"
        }
        return text
    }
}
