/// The steps of a demonstration with their results.
struct Summary: Sendable {
    private enum Outcome: Sendable {
        case held(Duration)
        case failed(String)
        case notRun
    }

    private var steps: [(title: String, outcome: Outcome)] = []

    var hasHeld: Bool {
        steps.allSatisfy { step in
            if case .held = step.outcome { true } else { false }
        }
    }

    mutating func addHeld(_ title: String, _ time: Duration) {
        steps.append((title, .held(time)))
    }

    mutating func addFailed(_ title: String, _ reason: String) {
        steps.append((title, .failed(reason)))
    }

    mutating func addNotRun(_ title: String) { steps.append((title, .notRun)) }

    func lines(total: Duration) -> [String] {
        let width = steps.map(\.title.count).max() ?? 0
        let rows = steps.map { step in
            let title =
                step.title + String(repeating: " ", count: width - step.title.count)
            return switch step.outcome {
            case .held(let time):
                "  \(Terminal.green("✓")) \(title)  \(Terminal.faint(Self.text(time)))"
            case .failed(let reason):
                "  \(Terminal.red("✗")) \(title)  \(Terminal.red(reason))"
            case .notRun: "  \(Terminal.faint("– \(title)  not run"))"
            }
        }
        let held = steps.filter { step in
            if case .held = step.outcome { true } else { false }
        }.count
        let verdict = "\(held) of \(steps.count) steps held, in \(Self.text(total))."
        return rows + ["", Terminal.bold(verdict)]
    }

    static func text(_ time: Duration) -> String {
        let milliseconds = Int(time / .milliseconds(1))
        guard milliseconds >= 1000 else { return "\(milliseconds) ms" }
        let tenths = (milliseconds + 50) / 100
        return "\(tenths / 10).\(tenths % 10) s"
    }
}
