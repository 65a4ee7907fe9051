package import KeelDocuments

package struct Aggregator: Sendable {
    fileprivate struct Total: Sendable {
        var count = 0
        /// Wide enough that intermediate sums cannot overflow.
        var integers: Int128 = 0
        var doubles = 0.0
        var hasDouble = false
    }

    private let aggregations: [Aggregation]
    private let paths: [CompiledFieldPath?]
    private var totals: [Total]

    package init(_ aggregations: [Aggregation]) {
        self.aggregations = aggregations
        paths = aggregations.map { $0.field.map(CompiledFieldPath.init) }
        totals = aggregations.map { _ in Total() }
    }

    /// Adds a document of the result, unless it lacks one of the aggregated fields.
    package mutating func add(_ document: Document) {
        var values: [DocumentValue?] = []
        for path in paths {
            guard let path else {
                values.append(.none)
                continue
            }
            guard let value = document.body.value(at: path) else { return }
            values.append(.some(value))
        }
        for (index, value) in values.enumerated() {
            switch value {
            case .none: totals[index].count += 1
            case .some(.integer(let number)): totals[index].add(number)
            case .some(.double(let number)): totals[index].add(number)
            case .some: break
            }
        }
    }

    /// For counts only.
    package mutating func add(count: Int) {
        for index in totals.indices { totals[index].count += count }
    }

    package var values: [DocumentValue] {
        zip(aggregations, totals).map { aggregation, total in
            switch aggregation {
            case .count(let most): .integer(Int64(min(total.count, most ?? .max)))
            case .sum: total.sum
            case .average: total.count == 0 ? .null : .double(total.mean)
            }
        }
    }
}

extension Aggregator.Total {
    fileprivate mutating func add(_ number: Int64) {
        count += 1
        integers += Int128(number)
    }

    fileprivate mutating func add(_ number: Double) {
        count += 1
        doubles += number
        hasDouble = true
    }

    private var total: Double {
        let sum = Double(integers) + doubles
        // The difference of infinities may be a signed NaN, whose sign no protocol transmits.
        return sum.isNaN ? .nan : sum
    }

    fileprivate var sum: DocumentValue {
        guard !hasDouble, let exact = Int64(exactly: integers) else { return .double(total) }
        return .integer(exact)
    }

    fileprivate var mean: Double { total / Double(count) }
}
