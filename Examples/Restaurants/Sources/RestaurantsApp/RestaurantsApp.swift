import Foundation
import KeelDependencies
import KeelLogging
import Logging
import RestaurantsData
import RestaurantsDomain
import RestaurantsPresentation

/// The program: parses the command line, runs the command, and shows its result.
@main
struct RestaurantsApp {
    static func main() async {
        let screen = TerminalScreen.standardOutput
        do {
            let invocation = try CommandLineParser.parse(Array(CommandLine.arguments.dropFirst()))
            if invocation.command == .help {
                screen.show(Help.text)
                return
            }
            try await run(invocation, on: screen)
        } catch let error as UsageError {
            TerminalScreen.standardError.show(ErrorView.render(error, TerminalScreen.errorStyle))
            exit(64)
        } catch let error as DomainError {
            TerminalScreen.standardError.show(ErrorView.render(error, TerminalScreen.errorStyle))
            exit(1)
        } catch {
            TerminalScreen.standardError.show("error: \(error)")
            exit(1)
        }
    }

    private static func run(_ invocation: Invocation, on screen: Screen) async throws {
        let settings = try Settings(invocation, environment: ProcessInfo.processInfo.environment)
        let infrastructure = try await Infrastructure(settings)
        let composition = withDependencies {
            infrastructure.set(in: &$0)
        } operation: {
            Composition(settings)
        }
        let runner = CommandRunner(composition.useCases, on: screen) {
            settings.password ?? TerminalScreen.askForPassword()
        }
        let logger = composition.telemetry.logger
        logger.logInfo("A command begins", metadata: ["command": "\(invocation.command.name)"])
        do {
            let user = try settings.user(signedIn: try await composition.signedInUser())
            try await run(invocation.command, as: user, runner, composition, settings)
        } catch {
            logger.logError("The command failed", error: error)
            await infrastructure.close()
            throw error
        }
        await composition.telemetry.send(within: .seconds(3))
        await infrastructure.close()
    }

    /// Runs a command and sends pending changes, as far as the service responds in time.
    ///
    /// A command never fails because the changes cannot be sent.
    private static func run(
        _ command: Command,
        as user: UserID,
        _ runner: CommandRunner,
        _ composition: Composition,
        _ settings: Settings
    ) async throws {
        let (outbox, patience) = (composition.outbox, Duration.seconds(3))
        switch command {
        case .watch:
            // It ends with the watching.
            async let _: Void = outbox.keepSending(of: user)
            try await runner.run(command, as: user)
        case .pending(nil), .logout:
            await outbox.send(of: user, within: patience)
            try await runner.run(command, as: user)
        default:
            try await runner.run(command, as: user)
            // The newly signed-in user may be another one.
            let user = try settings.user(signedIn: try await composition.signedInUser())
            await outbox.send(of: user, within: patience)
        }
    }
}
