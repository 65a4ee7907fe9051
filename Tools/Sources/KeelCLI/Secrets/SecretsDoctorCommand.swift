import ArgumentParser
import Foundation
import KeelSecrets
import KeelSecurityTools
import KeelToolSupport

struct SecretsDoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Says which store can be used on this machine, and what to do if it cannot."
    )

    @Option(
        help: "The store to look at: platform, file:FOLDER or env:PREFIX.",
        completion: .list(["platform", "file:", "env:"])
    )
    var store = SecretPlace.platform

    @OptionGroup var key: SecretFileKeyOptions

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    func run() async throws {
        let output = CommandOutput(isJSON: json)
        try await output.reporting {
            let finding: Finding
            do throws(any Error) {
                let store = try await store.open(service: "keel-doctor", key.choice)
                finding = Finding(await store.capabilities())
            } catch let error as SecretError {
                finding = Finding(error)
            }
            try finding.show(output)
            return finding.problem == nil ? .done : .findings
        }
    }

    private struct Finding: Encodable {
        let store: String
        let features: [String]
        let problem: String?
        let code: String?
        let advice: String?

        init(_ capabilities: SecretStoreCapabilities) {
            let names: [(SecretStoreCapabilities.Features, String)] = [
                (.writable, "writable"), (.persistent, "persistent"), (.locked, "locked"),
                (.syncs, "syncs"), (.hardware, "hardware"),
                (.comparesAcrossProcesses, "comparesAcrossProcesses"),
            ]
            store = capabilities.kind.name
            features = names.filter { capabilities.features.contains($0.0) }.map(\.1)
            problem = capabilities.problem.map { "The store cannot be used (\($0.name))." }
            code = capabilities.problem?.name
            advice = capabilities.problem.map { ShellAdvice.text(for: $0) }
        }

        init(_ error: SecretError) {
            store = "none"
            features = []
            let described = ToolError(describing: error)
            problem = described.message
            code = described.code
            advice = described.advice
        }

        func show(_ output: CommandOutput) throws {
            guard !output.isJSON else { return try output.record(self) }
            try output.line("store:    \(store)")
            if !features.isEmpty {
                try output.line("features: \(features.joined(separator: ", "))")
            }
            if let problem { try output.line("problem:  \(problem)") }
            if let advice { try output.line("advice:   \(advice)") }
        }
    }
}
