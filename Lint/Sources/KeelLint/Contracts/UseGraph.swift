/// The uses between the parts of a project.
package struct UseGraph: Sendable {
    /// A step to a part, with the first use in the code.
    package struct Step: Sendable {
        package let to: String
        package let use: Project.Use
    }

    /// The parts of the project's files; nil excludes a file.
    package let parts: [String?]
    package private(set) var edges: [String: [String: Project.Use]] = [:]
    /// In the order of files.
    package private(set) var crossings: [(use: Project.Use, from: String, to: String)] = []

    /// The prefix of the parts that are external modules.
    package static let outside = "module "

    package init(_ project: Project, part: (SourceFile) -> String?) {
        parts = project.files.map { $0.isTest ? nil : part($0) }
        // Most uses stay within a part: numbers tell that without comparing strings.
        var numbers = TextTable()
        var names: [String] = []
        func number(_ name: String) -> Int {
            let (number, isNew) = numbers.number(of: name)
            if isNew { names.append(name) }
            return number
        }
        let files = parts.map { $0.map(number) }
        var partsOfTarget: [String: Set<Int?>] = [:]
        for (file, part) in zip(project.files, files) where !file.isTest {
            if let target = file.target { partsOfTarget[target, default: []].insert(part) }
        }
        let isOnePart = project.files.map { file in
            file.target.map { partsOfTarget[$0]?.count == 1 } ?? false
        }
        var seen: Set<Crossing> = []
        for index in project.uses.indices {
            let file = project.uses[index].file
            guard let from = files[file] else { continue }
            let to: Int?
            switch project.uses[index].what {
            case .module(let name):
                if project.targets.contains(name) {
                    // If a target has several parts, its types tell which one is used.
                    to = partsOfTarget[name].flatMap { $0.count == 1 ? $0.first ?? nil : nil }
                } else {
                    to = number(Self.outside + name)
                }
            case .type(_, let position):
                // Covered by the import.
                let isSaid =
                    isOnePart[position]
                    && project.files[position].target != project.files[file].target
                to = isSaid ? nil : files[position]
            }
            guard let to, from != to else { continue }
            crossings.append((project.uses[index], names[from], names[to]))
            if seen.insert(Crossing(from: from, to: to)).inserted {
                edges[names[from], default: [:]][names[to]] = project.uses[index]
            }
        }
    }

    mutating func keepEdges(_ isKept: (_ from: String, _ to: String) -> Bool) {
        for (from, uses) in edges { edges[from] = uses.filter { isKept(from, $0.key) } }
    }

    private struct Crossing: Hashable {
        let from: Int
        let to: Int
    }

    /// Returns the shortest path from a part to a wanted one; nil if there is none.
    package func way(
        from start: String,
        to isWanted: (String) -> Bool,
        over mayPass: (String) -> Bool
    ) -> [Step]? {
        var previous: [String: (from: String, step: Step)] = [:]
        var pending = [start]
        var next = 0
        while next < pending.count {
            let part = pending[next]
            next += 1
            for (to, use) in (edges[part] ?? [:]).sorted(by: { $0.key < $1.key })
            where previous[to] == nil && to != start {
                previous[to] = (part, Step(to: to, use: use))
                if isWanted(to) {
                    var steps: [Step] = []
                    var end = to
                    while end != start, let (from, step) = previous[end] {
                        steps.append(step)
                        end = from
                    }
                    return steps.reversed()
                }
                if mayPass(to) { pending.append(to) }
            }
        }
        return nil
    }

    /// Returns a cycle for each group of parts that reach each other.
    package func circles() -> [[Step]] {
        var found: [[Step]] = []
        var done: Set<String> = []
        for start in edges.keys.sorted() where !done.contains(start) {
            // A path back to the start through others.
            var best: [Step]?
            for (to, use) in (edges[start] ?? [:]).sorted(by: { $0.key < $1.key }) {
                let first = Step(to: to, use: use)
                guard let back = wayBack(from: to, to: start) else { continue }
                if best.map({ back.count + 1 < $0.count }) ?? true { best = [first] + back }
            }
            guard let circle = best else { continue }
            found.append(circle)
            done.formUnion(connected(with: start))
        }
        return found
    }

    private func wayBack(from part: String, to start: String) -> [Step]? {
        if let use = edges[part]?[start] { return [Step(to: start, use: use)] }
        return way(from: part, to: { $0 == start }, over: { _ in true })
    }

    private func connected(with start: String) -> Set<String> {
        func reached(_ start: String) -> Set<String> {
            var all: Set<String> = []
            var pending = [start]
            while let part = pending.popLast() {
                for to in (edges[part] ?? [:]).keys where all.insert(to).inserted {
                    pending.append(to)
                }
            }
            return all
        }
        return reached(start).filter { reached($0).contains(start) }
    }
}
