import Foundation

/// A demonstration of the app, which checks each of its steps.
actor Demonstration {
    /// A step and its description; it throws if it fails.
    typealias Step = (title: String, show: () async throws -> Void)

    let setting: Setting
    var api: RunningProcess?
    var address = ""
    var watcher: RunningProcess?
    /// The location of the app's documents: first a file, then a server.
    var store: String
    var server: RunningProcess?
    /// The ids of the changes that waited while the service was unavailable.
    var waiting: [String] = []
    /// The app's output while the service was available, for comparison.
    var online: (list: [String], search: [String]) = ([], [])

    private var processes: [RunningProcess] = []

    init(_ setting: Setting) {
        self.setting = setting
        store = setting.store
    }

    /// Runs all steps, up to the first that fails.
    ///
    /// - Returns: Whether all steps succeeded.
    func run() async -> Bool {
        Terminal.show(
            """
            \(Terminal.bold("Restaurants, an app on Keel"))
            Two instances of the app, A and B, work on one file. Their restaurants come from a
            service on this machine, which will go away and come back. At the end the same app works
            on a server instead of the file\(setting.postgreSQL == nil ? "" : ", and on PostgreSQL").

              data   \(setting.data.relativePath) (\(setting.restaurants.count) restaurants)
              store  \(setting.store)
            """
        )
        var summary = Summary()
        let start = ContinuousClock.now
        for step in steps {
            guard summary.hasHeld else {
                summary.addNotRun(step.title)
                continue
            }
            Terminal.show("\n\(Terminal.bold(step.title))")
            let begin = ContinuousClock.now
            do {
                try await step.show()
                summary.addHeld(step.title, begin.duration(to: .now))
            } catch {
                let reason = error is CancellationError ? "interrupted" : "\(error)"
                Terminal.show("  \(Terminal.red("✗ \(reason)"))")
                summary.addFailed(step.title, reason)
            }
        }
        Terminal.show("\n\(Terminal.bold("Summary"))")
        for line in summary.lines(total: start.duration(to: .now)) { Terminal.show(line) }
        return summary.hasHeld
    }

    /// Ends all started programs.
    func end() async {
        for process in processes { await process.stop() }
    }

    // MARK: Programs

    func start(
        _ program: String,
        _ arguments: [String],
        password: String? = nil
    ) throws -> RunningProcess {
        let process = try RunningProcess(
            try setting.program(program),
            arguments,
            password: password,
            in: setting.folder
        )
        processes.append(process)
        return process
    }

    /// Starts a program that runs until its input ends.
    func start(_ program: URL) throws -> RunningProcess {
        let process = try RunningProcess(program, [], holdsInput: true, in: setting.folder)
        processes.append(process)
        return process
    }

    /// Starts the app for a user, or for the signed-in user.
    func startApp(
        _ instance: Instance,
        _ user: String?,
        _ words: [String],
        password: String? = nil
    ) throws -> RunningProcess {
        let shown = words.map { $0.contains(" ") ? "\"\($0)\"" : $0 }.joined(separator: " ")
        let name = user.map { " \($0)" } ?? ""
        let prompt = Terminal.faint("\(instance.rawValue)\(name) $")
        Terminal.show("  \(prompt) restaurants \(shown)")
        return try start(
            "restaurants",
            words + ["--storage", store, "--api", address]
                + (user.map { ["--user", $0] } ?? []),
            password: password
        )
    }

    /// Runs the app to its end and shows its output.
    @discardableResult
    func app(
        _ instance: Instance,
        as user: String? = "ada",
        _ words: String...,
        password: String? = nil,
        status: Int32 = 0
    ) async throws -> RunningProcess.Outcome {
        try await app(instance, as: user, words, password: password, status: status)
    }

    /// Runs the app to its end and shows its output.
    @discardableResult
    func app(
        _ instance: Instance,
        as user: String? = "ada",
        _ words: [String],
        password: String? = nil,
        status: Int32 = 0
    ) async throws -> RunningProcess.Outcome {
        let process = try startApp(instance, user, words, password: password)
        let outcome = try await process.outcome(within: .seconds(60))
        show(outcome.output + outcome.errors, from: instance)
        guard outcome.status == status else {
            throw DemoFailure("the app ended with \(outcome.status), not with \(status)")
        }
        return outcome
    }

    func show(_ lines: [String], from instance: Instance) {
        for line in lines {
            let margin = Terminal.faint("\(instance.rawValue) │")
            Terminal.show(line.isEmpty ? "  \(margin)" : "  \(margin) \(line)")
        }
    }

    func note(_ text: String) { Terminal.show("  \(Terminal.faint("→ \(text)"))") }

    func expect(_ condition: Bool, _ claim: String) throws {
        guard condition else { throw DemoFailure("expected: \(claim)") }
    }
}

/// One of the two running apps.
enum Instance: String, Sendable {
    case a = "A"
    case b = "B"
}
