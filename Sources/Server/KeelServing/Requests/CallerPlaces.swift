/// The numbers of streams of a server and of each caller, with their limits.
struct CallerPlaces: Sendable {
    enum Refusal: Error {
        case isFull(Int)
        case callerIsFull(Int)

        var message: String {
            switch self {
            case .isFull(let count): "the server has \(count) streams already; try again later"
            case .callerIsFull(let count): "the caller has \(count) streams already; end some first"
            }
        }
    }

    private let maximum: Int
    private let maximumPerCaller: Int
    private(set) var count = 0
    private var counts: [CallerID: Int] = [:]

    init(_ maximum: Int, perCaller maximumPerCaller: Int) {
        self.maximum = maximum
        self.maximumPerCaller = maximumPerCaller
    }

    /// Takes a place until ``leave(_:)``; an unknown caller has no limit of its own.
    mutating func enter(_ caller: CallerID?) throws(Refusal) {
        guard count < maximum else { throw .isFull(maximum) }
        if let caller {
            let own = counts[caller, default: 0]
            guard own < maximumPerCaller else { throw .callerIsFull(maximumPerCaller) }
            counts[caller] = own + 1
        }
        count += 1
    }

    mutating func leave(_ caller: CallerID?) {
        count -= 1
        guard let caller, let own = counts[caller] else { return }
        counts[caller] = own > 1 ? own - 1 : nil
    }
}
