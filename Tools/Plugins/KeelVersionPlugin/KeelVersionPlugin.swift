import Foundation
import PackagePlugin

/// Writes what `keel --version` says before each build.
@main
struct KeelVersionPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let folder = context.pluginWorkDirectoryURL.appending(path: "Version")
        let package = context.package.directoryURL
        // The script needs them for swift and git; the command has no others.
        let names = ["PATH", "HOME", "DEVELOPER_DIR", "TOOLCHAINS"]
        let environment = ProcessInfo.processInfo.environment.filter { names.contains($0.key) }
        // Before each build, since nothing that a build could watch changes with a commit.
        return [
            .prebuildCommand(
                displayName: "Name the version of keel",
                executable: URL(filePath: "/bin/sh"),
                arguments: [
                    package.appending(path: "Plugins/version.sh").path,
                    package.deletingLastPathComponent().path,
                    folder.path,
                ],
                environment: environment,
                outputFilesDirectory: folder
            )
        ]
    }
}
