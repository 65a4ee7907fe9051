import ArgumentParser
import Foundation
import KeelLint

struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Writes a configuration based on the project's names.",
        discussion: "Does not replace an existing one without --force."
    )

    @Argument(help: "The project's folder.")
    var path = "."

    @OptionGroup var project: ProjectOptions

    @Flag(help: "Prints the configuration instead.")
    var stdout = false

    @Flag(help: "Replaces an existing configuration.")
    var force = false

    func run() throws {
        let linter = try project.linter(for: path)
        let loaded = linter.load(nil)
        let proposal = ConfigurationProposal(loaded)
        if stdout { return print(proposal.text, terminator: "") }
        let name = project.config ?? Linter.configurationName
        let file =
            project.config.map { URL(fileURLWithPath: $0) }
            ?? URL(fileURLWithPath: linter.root).appending(path: name)
        if FileManager.default.fileExists(atPath: file.path), !force {
            CheckCommand.complain(
                """
                \(name) already exists. --force replaces it, --stdout prints the proposal.
                """
            )
            throw ExitCode(2)
        }
        try CheckCommand.write(Data(proposal.text.utf8), to: file)
        let layers = proposal.configuration.layers.map(\.name)
        print(
            """
            Wrote \(name): \
            \(layers.isEmpty ? "no layers were found, fill them in" : layers.joined(separator: ", "))
            """
        )
        do {
            print(TextReport.summary(try linter.run()))
        } catch {
            CheckCommand.complain(error.description)
            throw ExitCode(2)
        }
    }
}
