# Tries to do harm to the file that it is run on, and prints what came of each try.
import os, socket, subprocess, sys

file, secret, port = sys.argv[1:]
beside = os.path.join(os.path.dirname(file), 'beside')


def attempt(name, deed):
    try:
        deed()
        print(name + '=done')
    except OSError:
        print(name + '=refused')


def left_behind():
    subprocess.Popen(['/bin/sh', '-c', 'sleep 120; :', 'hostile-child'], stdout=subprocess.DEVNULL)
    print('child=lives')


print('read=' + open(file).read())
attempt('truncate', lambda: os.truncate(file, 0))
attempt('open to truncate', lambda: os.open(file, os.O_TRUNC))
attempt('write', lambda: open(file, 'w').close())
attempt('append', lambda: open(file, 'a').close())
attempt('read and write', lambda: os.open(file, os.O_RDWR))
attempt('remove', lambda: os.remove(file))
attempt('rename', lambda: os.rename(file, beside))
attempt('replace', lambda: os.replace(file, beside))
attempt('link', lambda: os.link(file, beside))
attempt('symlink', lambda: os.symlink(file, beside))
attempt('mode', lambda: os.chmod(file, 0o777))
attempt('owner', lambda: os.chown(file, os.getuid(), os.getgid()))
attempt('times', lambda: os.utime(file, (0, 0)))
attempt('attribute', lambda: os.setxattr(file, b'user.x', b'y'))
attempt('beside', lambda: open(beside, 'x').close())
attempt('directory', lambda: os.mkdir(beside))
attempt('elsewhere', lambda: open('/tmp/garner-hostile-plugin', 'x').close())
attempt('list', lambda: os.listdir(os.path.dirname(file)))
attempt('secret', lambda: open(secret).close())
attempt('passwords', lambda: open('/etc/shadow').close())
attempt('network', lambda: socket.create_connection(('127.0.0.1', int(port)), 2))
attempt('leave the group', lambda: os.setsid())
attempt('kill', lambda: os.kill(os.getppid(), 9))
left_behind()
