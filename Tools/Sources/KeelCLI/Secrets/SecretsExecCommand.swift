import ArgumentParser
import Foundation
import KeelSecurityTools

extension SecretEnvironment.Variable: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}

struct SecretsExecCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec",
        abstract: "Runs a program with secrets in its environment variables.",
        discussion: """
            Without --env, each secret of the service becomes a variable named after its key: \
            api-token becomes API_TOKEN. The program takes the place of keel: it receives signals, \
            and its exit code is that of the command. It does not get the variable of --key-variable \
            or --passphrase-variable, nor the descriptor of --passphrase-descriptor from 3 on, \
            which open all secrets of the file.

                keel secrets exec --service com.example.notes --env PGPASSWORD=database -- psql notes
            """
    )

    @OptionGroup var secrets: SecretOptions

    @Option(
        help: ArgumentHelp(
            "A variable and the key of its secret; can be repeated.",
            valueName: "NAME=key"
        )
    )
    var env: [SecretEnvironment.Variable] = []

    @Argument(
        parsing: .postTerminator,
        help: "The program and its arguments, behind --."
    )
    var command: [String] = []

    func validate() throws {
        guard !command.isEmpty else {
            throw ValidationError("Name the program behind --, as in: keel secrets exec … -- psql")
        }
    }

    func run() async throws {
        try await secrets.output.reporting {
            let store = try await secrets.open()
            let environment = try await SecretEnvironment(env, from: store)
            // The program could read a file from its beginning.
            if let descriptor = secrets.key.passphraseOptions.passphraseDescriptor,
                descriptor > STDERR_FILENO
            {
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            }
            try environment.become(command, without: secrets.key.variables)
        }
    }
}
